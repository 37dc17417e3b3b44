import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  checkDkimKey,
  DkimKeyError,
  dkimRecord,
  readDkimKey,
  signMail,
} from "../../../../src/service/delivery/mail/dkim.ts";
import { dkimProblem } from "../../../helpers/dkim-verifier.ts";
import { RSA_PEM } from "../../../helpers/smtp-plan-server.ts";
import { rawMail } from "../message/mailing.ts";

const PLACE = { domain: "bücher.example", selector: "s1.mail" };

function rsaPem(bits: number): string {
  return generateKeyPairSync("rsa", { modulusLength: bits })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
}

const PEM = RSA_PEM;
const KEY = readDkimKey(PEM, PLACE);
const RECORD = dkimRecord(KEY);
const MAILS = {
  english: await rawMail(),
  thai: await rawMail({
    properties: { locale: "th", service_intro_message: "a  b \t\n\n\n" },
    sender: { replyTo: "a@b.example" },
  }),
  plain: await rawMail({ appUrl: "http://survey.example.com" }),
  emptyBody: "From: a@b.example\r\nSubject: x\r\n\r\n",
};

describe.each(Object.entries(MAILS))("the %s mail", async (_, message) => {
  const signed = await signMail(message, KEY);

  it("when it is signed, then it verifies and is otherwise the same", async () => {
    expect(dkimProblem(signed, RECORD)).toBeNull();
    expect(signed.endsWith(`\r\n${message}`)).toBe(true);
    const signature = signed.slice(0, -message.length);
    expect(signature).toMatch(
      /^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed;\r\n d=xn--bcher-kva\.example; q=dns\/txt; s=s1\.mail;\r\n/,
    );
    for (const line of signature.split("\r\n")) expect(line.length).toBeLessThanOrEqual(998);
    expect(await signMail(message, KEY)).toBe(signed);
  });

  it("when a relay folds a header and adds blanks and empty lines, then it still verifies", () => {
    const relayed = signed.replace("\r\nSubject: ", "\r\nSUBJECT:\r\n\t ").replace(/\r\n\r\n$/, "\r\n") + " \r\n\r\n";
    expect(dkimProblem(relayed.replace(/^/, "Received: by relay\r\n"), RECORD)).toBeNull();
  });
});

it("when a mail is signed, then both headers of one-click unsubscribing are covered, and each other that matters", async () => {
  const [, names = ""] = /\bh=([^;]*);/.exec(await signMail(MAILS.thai, KEY)) ?? [];
  expect(names.replaceAll(/\s/g, "").split(":")).toEqual(
    "from to subject date message-id reply-to mime-version content-type content-language list-id list-unsubscribe list-unsubscribe-post feedback-id".split(
      " ",
    ),
  );
});

it("when one byte is another, then the signature does not hold", async () => {
  const signed = await signMail(MAILS.english, KEY);
  const headEnd = signed.indexOf("\r\n\r\n");
  // Text from the signed headers and the body. Changing any of these must break the signature.
  const places = [
    "Ada",
    "How are we",
    "Sun, 15",
    "random1of16",
    "multipart",
    "List-ID: <default",
    "/u/leaves",
    "One-Click",
    "survey:en",
  ];
  for (const text of [...places, "score=3D9", "Unsubscribe from surveys: http"]) {
    const at = signed.indexOf(text) + text.length - 1;
    const changed = signed.slice(0, at) + (signed[at] === "X" ? "Y" : "X") + signed.slice(at + 1);
    expect([text, dkimProblem(changed, RECORD)]).toEqual([
      text,
      at > headEnd ? "the body is not the one that was signed" : "the headers are not those that were signed",
    ]);
  }
});

it.each<[string, (signed: string) => string, string, string]>([
  ["has none", (signed) => signed.replace("DKIM-", "X-"), RECORD, "there is no signature"],
  [
    "is of another kind",
    (signed) => signed.replace("rsa-sha256", "rsa-sha1"),
    RECORD,
    "the signature is of a kind that is not known",
  ],
  [
    "covers a part of the body",
    (signed) => signed.replace("; q=", "; l=1; q="),
    RECORD,
    "the signature is of a kind that is not known",
  ],
  ["leaves From out", (signed) => signed.replace("h=from:", "h="), RECORD, "the signature does not cover From"],
  [
    "has a second From",
    (signed) => signed.replace("\r\nTo:", "\r\nFrom: <x@y.example>\r\nTo:"),
    RECORD,
    "the headers are not those that were signed",
  ],
  [
    "is of another key",
    (signed) => signed,
    dkimRecord(readDkimKey(rsaPem(2048), PLACE)),
    "the headers are not those that were signed",
  ],
  ["has a withdrawn key", (signed) => signed, "v=DKIM1; p=", "the record has no public key"],
])("when the signature %s, then that is said", async (_, change, record, problem) => {
  expect(dkimProblem(change(await signMail(MAILS.english, KEY)), record)).toBe(problem);
});

describe("the key", () => {
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
  const rsa = createPrivateKey(RSA_PEM);
  const locked = { cipher: "aes-256-cbc", passphrase: "secret" };

  it.each<[string, string | Buffer, { domain: string; selector: string }, string]>([
    ["is short", rsaPem(1024), PLACE, "the DKIM key has 1024 bits; use an RSA key of 2048 bits or more"],
    ["is empty", "", PLACE, "the DKIM key is not a private key in PEM format"],
    ["is a public one", RECORD, PLACE, "the DKIM key is not a private key in PEM format"],
    [
      "is locked",
      rsa.export({ type: "pkcs8", format: "pem", ...locked }),
      PLACE,
      "the DKIM key is encrypted; save it without a passphrase",
    ],
    [
      "is locked in the old form",
      rsa.export({ type: "pkcs1", format: "pem", ...locked }),
      PLACE,
      "the DKIM key is encrypted; save it without a passphrase",
    ],
    ["is not RSA", String(ec), PLACE, "the DKIM key is of type ec; use an RSA key"],
    ["has no domain", PEM, { ...PLACE, domain: "" }, 'the DKIM domain "" is not a domain name'],
    [
      "has a strange selector",
      PEM,
      { ...PLACE, selector: "a;b=c" },
      'the DKIM selector "a;b=c" is not a part of a domain name',
    ],
  ])("when it %s, then it is refused in one sentence", (_, pem, place, message) => {
    expect(() => readDkimKey(pem, place)).toThrow(new DkimKeyError(message));
  });

  it.each(["pkcs8", "pkcs1"] as const)("when it is in the form %s, then it signs", (type) => {
    const key = readDkimKey(rsa.export({ type, format: "pem" }), PLACE);
    expect(() => checkDkimKey(key)).not.toThrow();
  });

  it("when it is sound, then its record has the public half", () => {
    expect(RECORD).toMatch(/^v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A[\w+/]+=*$/);
  });
});
