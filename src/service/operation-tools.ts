import { unixSeconds } from "../runtime/clock.ts";
import type { CommonParts } from "./common-parts.ts";
import { previewMail } from "./delivery/message/survey-mail.ts";
import { postDigest } from "./digest/slack-digest.ts";
import { isSlackTarget } from "./domain/webhooks/digest-targets.ts";
import type { OperationTools } from "./operations/define/operation.ts";
import { callServed, describeOperations, isServed } from "./operations/index.ts";
import type { Administration } from "./http/administration.ts";
import type { Senders } from "./sending/senders.ts";
import { sendTestEvent } from "./webhook/post-once.ts";

export function openTools(
  parts: CommonParts,
  senders: Pick<Senders, "all">,
  sweepMessages: () => Promise<number | null>,
): Omit<OperationTools, "actor"> {
  const { options, store, address, readContext, keepErasures } = parts;
  const { clock, random } = options;
  const mailing = { store, clock, random, own: () => address.own, readContext };
  return {
    store,
    clock,
    random,
    senders: senders.all,
    appUrl: () => address.url,
    ownAddresses: () => address.own,
    onErased: keepErasures,
    renderPreview: async (survey) => previewMail(survey, await readContext(survey.project), random, unixSeconds(clock)),
    renderDigest: async (due) =>
      (await import("./digest/digest-mail.ts")).previewDigest(store, due, await readContext(due.project)),
    sendDigest: async (due) =>
      isSlackTarget(due.email)
        ? postDigest(mailing, due)
        : (await import("./digest/digest-mail.ts")).composeDigest(store, due, await readContext(due.project)),
    composeTest: async (project, to) =>
      (await import("./delivery/doctor/test-mail.ts")).composeTestMail(to, await readContext(project), {
        random,
        clock,
      }),
    sendTest: (webhook, event) => sendTestEvent({ clock, own: () => address.own }, webhook, event),
    sweepMessages,
  };
}

export function openAdministration(...given: Parameters<typeof openTools>): Administration {
  const tools = openTools(...given);
  return {
    list: describeOperations,
    has: isServed,
    call: (name, { name: project }, actor, input) => callServed({ ...tools, actor }, { name, project }, input),
  };
}
