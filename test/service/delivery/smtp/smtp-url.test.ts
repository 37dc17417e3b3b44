import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import {
  describeSmtpServer,
  InvalidSmtpUrlError,
  maskCredentials,
  parseSmtpUrl,
  readCertificates,
  type SmtpServer,
} from "../../../../src/service/delivery/smtp/smtp-url.ts";
import { TLS_CERTIFICATE } from "../../../helpers/misbehaving-server.ts";

const server = (
  host: string,
  port: number,
  security: SmtpServer["security"],
  more: Partial<SmtpServer> = {},
): SmtpServer => ({
  host,
  port,
  security,
  credentials: null,
  caFile: null,
  ...more,
});
const me = { credentials: { user: "me", password: "secret" } };

it.each<[string, SmtpServer, string]>([
  ["smtp://mail.example.com", server("mail.example.com", 25, "if-offered"), "smtp://mail.example.com:25"],
  ["smtp://mail.example.com/", server("mail.example.com", 25, "if-offered"), "smtp://mail.example.com:25"],
  [" smtp://mail.example.com\n", server("mail.example.com", 25, "if-offered"), "smtp://mail.example.com:25"],
  ["smtp://mail.example.com?tls=off", server("mail.example.com", 25, "off"), "smtp://mail.example.com:25?tls=off"],
  [
    "SMTP://me:secret@mail.example.com",
    server("mail.example.com", 587, "required", me),
    "smtp://me:***@mail.example.com:587",
  ],
  [
    "smtps://me:secret@mail.example.com",
    server("mail.example.com", 465, "implicit", me),
    "smtps://me:***@mail.example.com:465",
  ],
  [
    "smtp://me:secret@mail.example.com:2525",
    server("mail.example.com", 2525, "required", me),
    "smtp://me:***@mail.example.com:2525",
  ],
  ["smtp://me:secret@h?tls=off", server("h", 587, "off", me), "smtp://me:***@h:587?tls=off"],
  ["smtp://me:secret@127.0.0.2:1025", server("127.0.0.2", 1025, "if-offered", me), "smtp://me:***@127.0.0.2:1025"],
  ["smtp://me:secret@[::1]", server("::1", 587, "if-offered", me), "smtp://me:***@[::1]:587"],
  ["smtp://me:secret@localhost", server("localhost", 587, "if-offered", me), "smtp://me:***@localhost:587"],
  // A name that resolves to this machine isn't a loopback address.
  [
    "smtp://me:secret@mail.localhost",
    server("mail.localhost", 587, "required", me),
    "smtp://me:***@mail.localhost:587",
  ],
  ["smtp://me:secret@[2001:db8::1]", server("2001:db8::1", 587, "required", me), "smtp://me:***@[2001:db8::1]:587"],
  [
    "smtps://a%40b.c:p%23w%25%3F%C3%A9@h?ca=/etc/own%20ca.pem",
    server("h", 465, "implicit", { credentials: { user: "a@b.c", password: "p#w%?é" }, caFile: "/etc/own ca.pem" }),
    "smtps://a%40b.c:***@h:465",
  ],
  ["smtp://müller.example", server("xn--mller-kva.example", 25, "if-offered"), "smtp://xn--mller-kva.example:25"],
])("when the URL is %s, then it means that server, and logs show it without the password", (url, expected, shown) => {
  expect(parseSmtpUrl(url)).toEqual(expected);
  expect(describeSmtpServer(parseSmtpUrl(url))).toBe(shown);
});

it.each([
  ["https://hunter2@h", "must start with smtp:// or smtps://"],
  ["me:hunter2@h", "must start with smtp:// or smtps://"],
  ["", "must start with smtp:// or smtps://"],
  ["smtp://", "has no valid host name"],
  ["smtp://me:hunter2@", "is not a valid URL; write special characters of the password as %XX, such as # as %23"],
  ["smtp://me:#hunter2@h", "must not contain #; in the password write it as %23"],
  ["smtp://me:h#unter2@h", "is not a valid URL; write special characters of the password as %XX, such as # as %23"],
  ["smtp://me:1?hunter2@h", "allows only tls=off and ca=FILE after the ?, each once; in the password write ? as %3F"],
  ["smtp://me:1/hunter2@h", "must not contain a path; in the password write / as %2F, and @ as %40"],
  ["smtp://me:hun ter2@h", "must not contain spaces or control characters; write a space as %20"],
  ["smtp://me:hunter2%@h", "has a % in its user or password that two hexadecimal digits do not follow; write % as %25"],
  ["smtp://me:hunter2%0d%0a@h", "must not have a line break or a NUL in its user or password"],
  ["smtp://me@h", "has a user but no password"],
  ["smtp://:hunter2@h", "has a password but no user"],
  ["smtp://me:hunter2@h:0", "must have a port from 1 to 65535"],
  [
    "smtp://me:hunter2@h:99999",
    "is not a valid URL; write special characters of the password as %XX, such as # as %23",
  ],
  ["smtp://me:hunter2@h?tls=on", "allows only tls=off; leave tls out for the default"],
  [
    "smtp://me:hunter2@h?tls=off&tls=off",
    "allows only tls=off and ca=FILE after the ?, each once; in the password write ? as %3F",
  ],
  ["smtps://me:hunter2@h?tls=off", "cannot have both smtps:// and tls=off; use smtp:// without TLS"],
  ["smtp://me:hunter2@h?tls=off&ca=x", "cannot have both tls=off and ca=FILE"],
  ["smtp://me:hunter2@h?ca=", "has no file name after ca="],
  ["smtp://me:hunter2@a..b", "has no valid host name"],
])("when the URL is %s, then one sentence says what is wrong and nothing of the password", (url, sentence) => {
  expect(() => parseSmtpUrl(url)).toThrow(new InvalidSmtpUrlError(`the SMTP URL ${sentence}`));
  expect(sentence).not.toContain("unter2");
});

it("when a text has the password in it, then stars are in its place", () => {
  const own = parseSmtpUrl("smtp://me:s%C3%A9cret%23@h");
  const login = Buffer.from("\0me\0sécret#").toString("base64");
  expect(maskCredentials(`no ${login}, no sécret#, no s%C3%A9cret%23`, own)).toBe("no ***, no ***, no ***");
  expect(maskCredentials("a text", parseSmtpUrl("smtp://me:a@h"))).toBe("a text");
  expect(maskCredentials("a text", parseSmtpUrl("smtp://h"))).toBe("a text");
});

it("when the URL names a file of certificates, then it is read, or one sentence says why not", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-smtp-"));
  const other = path.join(folder, "other.pem");
  await writeFile(other, "no certificate");
  const read = (file: string): Promise<string | null> =>
    readCertificates(server("h", 25, "required", { caFile: file }));
  expect(await readCertificates(server("h", 25, "required"))).toBeNull();
  expect(await read(TLS_CERTIFICATE)).toContain("BEGIN CERTIFICATE");
  await expect(read(other)).rejects.toThrow(
    new InvalidSmtpUrlError(`the SMTP URL names ca=${other}, which is not a file of PEM certificates`),
  );
  const missing = path.join(folder, "missing.pem");
  await expect(read(missing)).rejects.toThrow(
    new InvalidSmtpUrlError(`the SMTP URL names ca=${missing}, which cannot be read (ENOENT)`),
  );
  await rm(folder, { recursive: true });
});
