/** Chance, made replaceable. */
export interface Random {
  /** A number from 0 up to, not including, 1; for jitter, never for secrets. */
  fraction(): number;
  /** `bytes` unpredictable bytes as URL-safe text; for keys, tokens and names of temporary files. */
  token(bytes: number): string;
}

export const systemRandom: Random = {
  fraction: () => Math.random(),
  // The global needs no node:crypto, which is slow to load.
  token: (bytes) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url"),
};
