import { InputError, type InputFile } from "./input-file.ts";
import { EncodingError, toUtf8 } from "./encoding.ts";

export async function explainNotText(input: InputFile, cause: EncodingError): Promise<InputError> {
  const { line, byte } = await locate(input, cause.offset);
  const place = `${input.name}:${line}`;
  if (cause.encoding !== "utf-8")
    return new InputError(`${place}: ${cause.encoding.toUpperCase()} that is broken near byte ${cause.offset}`, {
      hint: input.encoding === null ? 'save the file again as "CSV UTF-8"' : "the file may be in another encoding",
      cause,
    });
  // In UTF-16 text, one of the first two bytes is usually zero; a zero that comes later means something else.
  if (cause.isZero && cause.offset > 1)
    return new InputError(`${place}: the text contains a zero byte`, {
      hint: "remove zero bytes: tr -d '\\000' < old.csv > new.csv",
      cause,
    });
  const met = cause.isZero ? `UTF-16${cause.offset === 0 ? "BE" : "LE"}` : "WINDOWS-1252";
  const found = cause.isZero ? `it looks like ${met} without a byte order mark` : `byte 0x${byte}, as in ${met}`;
  return new InputError(`${place}: the text is neither UTF-8 nor UTF-16 with a byte order mark (${found})`, {
    ...((await isReadable(input, met)) && { fix: { kind: "encoding", encoding: met } as const }),
    cause,
  });
}

async function isReadable(input: InputFile, encoding: string): Promise<boolean> {
  try {
    for await (const _ of toUtf8(input.bytes(), encoding));
    return true;
  } catch (error) {
    if (error instanceof EncodingError) return false;
    throw error;
  }
}

async function locate(input: InputFile, offset: number): Promise<{ readonly line: number; readonly byte: string }> {
  let [line, start] = [1, 0];
  for await (const bytes of input.bytes()) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = Math.min(chunk.length, offset - start);
    for (let at = chunk.indexOf(10); at !== -1 && at < end; at = chunk.indexOf(10, at + 1)) line += 1;
    if (end < chunk.length) return { line, byte: chunk.toString("hex", end, end + 1) };
    start += chunk.length;
  }
  return { line, byte: "" };
}
