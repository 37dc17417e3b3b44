export class EncodingError extends Error {
  override readonly name = "EncodingError";
  readonly offset: number;
  readonly encoding: string;
  /** True for a zero byte, which is valid UTF-8 but never occurs in text. */
  readonly isZero: boolean;

  constructor(offset: number, encoding: string, isZero = false) {
    super(`byte ${offset} is not ${encoding}`);
    this.offset = offset;
    this.encoding = encoding;
    this.isZero = isZero;
  }
}

export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== "";
  } catch {
    return false;
  }
}

const LONGEST = 4;

/** `given` names an encoding; null means UTF-8, or UTF-16 with a byte order mark. Throws EncodingError. */
export async function* toUtf8(chunks: AsyncIterable<Uint8Array>, given: string | null = null): AsyncGenerator<Buffer> {
  let [encoding, start, before] = ["", 0, new Uint8Array()];
  let decode: Decode | null = null;
  for await (const chunk of chunks) {
    if (decode === null) {
      encoding = chooseEncoding(given, chunk);
      decode = await createDecoder(encoding);
    }
    const zero = encoding === "utf-8" ? chunk.indexOf(0) : -1;
    if (zero !== -1) throw new EncodingError(start + zero, encoding, true);
    yield decodeOr(decode, chunk);
    start += chunk.length;
    before = chunk.slice(-LONGEST);
  }
  if (decode !== null) yield decodeOr(decode, null);

  function decodeOr(from: Decode, chunk: Uint8Array | null): Buffer {
    try {
      return Buffer.from(from(chunk));
    } catch {
      // The invalid character may have begun in the previous chunk.
      const bytes = Buffer.concat([before, chunk ?? new Uint8Array()]);
      throw new EncodingError(start - before.length + validLength(bytes, encoding), encoding);
    }
  }
}

/** Without a byte order mark, the position of the zero byte in a Latin character shows the byte order. */
function chooseEncoding(given: string | null, [first, second]: Uint8Array): string {
  const name =
    given
      ?.toLowerCase()
      .replace("utf-16-", "utf-16")
      .replace(/^utf(?=\d)/, "utf-") ?? "utf-8";
  if (!["utf-8", "utf-16"].includes(name)) return given ?? name;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (name === "utf-8") return name;
  return first === 0 ? "utf-16be" : "utf-16le";
}

type Decode = (bytes: Uint8Array | null) => string;

/** Bytes that windows-1252 doesn't define; decoders turn them into control characters. */
const WITHOUT_CHARACTER: ReadonlySet<number> = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

async function createDecoder(encoding: string): Promise<Decode> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  if (!isWindows(encoding))
    return (bytes) => (bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true }));
  // Node 20 reads windows-1252 as latin1.
  const { decode } = await import("windows-1252");
  return (bytes) => {
    if (bytes?.some((byte) => WITHOUT_CHARACTER.has(byte)) === true) throw new Error("a byte has no character");
    return bytes === null ? "" : decode(bytes);
  };
}

function isWindows(encoding: string): boolean {
  return new TextDecoder(encoding).encoding === "windows-1252";
}

/** The first few bytes may complete a character of the previous chunk. */
function validLength(bytes: Uint8Array, encoding: string): number {
  if (isWindows(encoding)) return bytes.findIndex((byte) => WITHOUT_CHARACTER.has(byte));
  const isValid = (start: number, end: number, stream: boolean): boolean => {
    try {
      new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(start, end), { stream });
      return true;
    } catch {
      return false;
    }
  };
  let first = 0;
  while (first < LONGEST - 1 && !isValid(first, LONGEST, true)) first += 1;
  let [good, bad] = [first, bytes.length + 1];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isValid(first, middle, true)) good = middle;
    else bad = middle;
  }
  while (good > first && !isValid(first, good, false)) good -= 1;
  return good;
}
