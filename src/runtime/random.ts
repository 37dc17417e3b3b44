export interface Random {
  /** From 0 up to but excluding 1; for jitter, never for secrets. */
  fraction(): number;
  token(bytes: number): string;
}

/** Bytes are drawn in bulk, because a system call per token would cost more than everything else. */
const DRAWN = 4096;

function draw(bytes: number): Buffer {
  // Using the global avoids loading node:crypto.
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
