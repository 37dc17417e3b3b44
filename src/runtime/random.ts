/** Chance, made replaceable. */
export interface Random {
  /** A number from 0 up to, not including, 1; for jitter, never for secrets. */
  fraction(): number;
  /** `bytes` unpredictable bytes as URL-safe text; for keys, tokens and names of temporary files. */
  token(bytes: number): string;
}

/** The system is asked for so many bytes at once: to ask for each token costs more than all else that a token does. */
const DRAWN = 4096;

function draw(bytes: number): Buffer {
  // The global needs no node:crypto, which is slow to load.
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)).buffer);
}

function createSystemRandom(): Random {
  const state = { drawn: Buffer.alloc(0), at: 0 };
  return {
    fraction: () => Math.random(),
    token: (bytes) => {
      if (bytes > DRAWN / 16) return draw(bytes).toString("base64url");
      if (state.at + bytes > state.drawn.length) Object.assign(state, { drawn: draw(DRAWN), at: 0 });
      state.at += bytes;
      return state.drawn.toString("base64url", state.at - bytes, state.at);
    },
  };
}

export const systemRandom: Random = createSystemRandom();
