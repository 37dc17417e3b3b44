/** Parses a message like a mail client, without using the code that wrote it. */
export interface Mail {
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Readonly<Record<string, string>>;
}

export function readMail(raw: string): Mail {
  const { headers, body } = split(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers["content-type"] ?? "")?.[1] ?? "";
  const sections = body.split(`--${boundary}`);
  if (sections.at(-1)?.trim() !== "--") throw new Error("the last boundary is missing");
  const parts = sections.slice(1, -1).map((section) => {
    const part = split(section.replace(/^\r\n/, "").replace(/\r\n$/, ""));
    return [
      (part.headers["content-type"] ?? "").split(";")[0] ?? "",
      decode(part.body, part.headers["content-transfer-encoding"] ?? ""),
    ];
  });
  return { headers, parts: Object.fromEntries(parts) as Record<string, string> };
}

function split(text: string): { headers: Record<string, string>; body: string } {
  const at = text.indexOf("\r\n\r\n");
  const lines = text
    .slice(0, at)
    .replace(/\r\n[ \t]/g, " ")
    .split("\r\n");
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(":")).toLowerCase(),
    decodeWords(line.slice(line.indexOf(":") + 1).trim()),
  ]);
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: text.slice(at + 4) };
}

function decodeWords(text: string): string {
  return text
    .replace(/\?= +=\?/g, "?==?")
    .replace(/=\?UTF-8\?B\?([^?]*)\?=/g, (_, base64: string) => Buffer.from(base64, "base64").toString("utf8"))
    .replace(/(?:=\?UTF-8\?Q\?[^?]*\?=)+/g, (words) =>
      decodeQuoted(words.replaceAll(/=\?UTF-8\?Q\?|\?=/g, "").replaceAll("_", " ")),
    );
}

function decode(body: string, encoding: string): string {
  if (encoding === "7bit") return body.replaceAll("\r\n", "\n");
  if (encoding !== "quoted-printable") throw new Error(`unknown encoding ${encoding}`);
  return decodeQuoted(body.replace(/=\r\n/g, "")).replaceAll("\r\n", "\n");
}

function decodeQuoted(text: string): string {
  const bytes = text.replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
