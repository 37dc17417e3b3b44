/** The package has types, but its `exports` hides them. */
declare module "windows-1252" {
  export function decode(bytes: Uint8Array): string;
}
