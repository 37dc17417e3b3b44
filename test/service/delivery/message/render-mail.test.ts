import { expect, it } from "vitest";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { dkimRecord, readDkimKey } from "../../../../src/service/delivery/mail/dkim.ts";
import { renderMail } from "../../../../src/service/delivery/message/render-mail.ts";
import { NO_SENDER } from "../../../../src/service/delivery/message/sender.ts";
import type { FrozenMessage } from "../../../../src/service/domain/ports.ts";
import { dkimProblem } from "../../../helpers/dkim-verifier.ts";
import { RSA_PEM } from "../../../helpers/smtp-plan-server.ts";
import { dueSurvey } from "../due.ts";
import { readMail } from "../read-mail.ts";
import { APP_URL, countingTokens, NOW } from "./mailing.ts";

const KEY = readDkimKey(RSA_PEM, { domain: "b.example", selector: "s" });
const SENDER = { ...NO_SENDER, from: "ask@bücher.example" };
const to = (email: string) => dueSurvey({ person: { id: 3, email, name: "Ada", phoneNumber: null } });

it.each([
  ["ada@example.com", null, "ask@xn--bcher-kva.example", "ada@example.com", false, null],
  ["ada@bücher.example", null, "ask@xn--bcher-kva.example", "ada@xn--bcher-kva.example", false, null],
  ["zoë@example.com", "back@b.example", "back@b.example", "zoë@example.com", true, null],
  ["a@b.co", "back+{token}@b.example", "back+random3of16@b.example", "a@b.co", false, "random3of16"],
])(
  "when mail goes to %s and bounces to %s, then the envelope says so",
  async (email, bounceAddress, from, recipient, isUtf8, bounceToken) => {
    const context = { appUrl: APP_URL, sender: { ...SENDER, bounceAddress } };
    const { message, frozen } = await renderMail(to(email), context, {
      random: countingTokens(),
      now: NOW,
      key: null,
    });
    expect(message).toEqual({ from, to: recipient, bytes: expect.any(Buffer), needsSmtpUtf8: isUtf8 });
    expect(frozen).toEqual({
      messageId: "random1of16@xn--bcher-kva.example",
      bounceToken,
      values: {
        at: NOW,
        from: { name: null, address: "ask@bücher.example" },
        boundary: "random2of18",
        subject: "How are we doing?",
      },
    });
    expect(readMail(Buffer.from(message.bytes).toString("utf8")).headers.to).toBe(`Ada <${recipient}>`);
  },
);

it("when a survey is tried again after a crash, then every byte is the same, the signature too", async () => {
  const context = { appUrl: APP_URL, sender: { ...SENDER, bounceAddress: "back+{token}@b.example" } };
  const first = await renderMail(dueSurvey(), context, { random: systemRandom, now: NOW, key: KEY });
  const kept = JSON.parse(JSON.stringify(first.frozen)) as FrozenMessage;
  const again = await renderMail(dueSurvey({ attempts: 3, claims: 9, frozen: kept }), context, {
    random: systemRandom,
    now: NOW + 86_400,
    key: KEY,
  });
  expect(again).toEqual(first);
  expect(dkimProblem(Buffer.from(first.message.bytes).toString("utf8"), dkimRecord(KEY))).toBeNull();
});
