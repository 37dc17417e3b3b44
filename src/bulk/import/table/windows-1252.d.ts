/** The package's own types are out of reach behind its `exports`. */
declare module "windows-1252" {
  export function decode(bytes: Uint8Array): string;
}
