import { unixSeconds } from "../../runtime/clock.ts";
import { type Admin, createAdmin } from "../operations/index.ts";
import { previewMail } from "../delivery/message/survey-mail.ts";
import { sendTestEvent } from "../webhook/test-event.ts";
import type { Base } from "./base.ts";
import { isSlackTarget } from "../domain/webhooks/digest-targets.ts";
import { postDigest } from "../digest/slack-digest.ts";
import { LAZY } from "./lazy.ts";
import type { Senders } from "./senders.ts";

export function openAdmin(base: Base, senders: Senders, sweep: () => Promise<number | null>): Admin {
  const { store, clock, random, address, contextOf, keepErasures } = base;
  return createAdmin({
    store,
    clock,
    random,
    senders: senders.all,
    appUrl: address.url,
    ownAddresses: address.own,
    onErased: keepErasures,
    renderPreview: async (survey) => previewMail(survey, await contextOf(survey.project), random, unixSeconds(clock)),
    renderDigest: async (due) => (await LAZY.digest()).previewDigest(store, due, await contextOf(due.project)),
    sendDigest: async (due) =>
      isSlackTarget(due.email) ? postDigest(base, due) : (await LAZY.digestTest()).mailDigest(base, due),
    sendTest: (webhook, event) => sendTestEvent({ clock, own: address.own }, webhook, event),
    sweepMessages: sweep,
  });
}
