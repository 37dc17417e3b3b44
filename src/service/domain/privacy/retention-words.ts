import { countOf } from "../../../contract/text/whole-number.ts";
import { toIsoTime } from "../../../contract/text/iso-time.ts";
import type { RetentionMode } from "./retention-rows.ts";

interface Expired {
  readonly responses: number | null;
  readonly mode: RetentionMode | null;
  readonly requests: number | null;
  readonly webhooks: number | null;
  readonly expired_responses: number;
  readonly expired_requests: number;
  readonly expired_webhook_events: number;
  readonly log: number;
  readonly expired_log_lines: number;
}

type Words = Readonly<Record<RetentionMode, (count: string) => string>>;

export const PLANNED: Words = {
  anonymize: (count) => `make ${count} anonymous`,
  delete: (count) => `delete ${count}`,
};
export const DONE: Words = {
  anonymize: (count) => `${count} made anonymous`,
  delete: (count) => `${count} deleted`,
};

/** `delete 4,866 responses older than 2021-11-24`; without `now` (Unix seconds), no dates. */
export function listExpired(expired: Expired, words: Words, now?: number): string {
  const { mode, responses, requests, webhooks } = expired;
  const older = (age: number | null): string =>
    now === undefined || age === null ? "" : ` older than ${toIsoTime(now - age).slice(0, DAY.length)}`;
  const parts = [
    mode === null ? null : words[mode](countOf(expired.expired_responses, "response", "responses") + older(responses)),
    requests === null ? null : words.delete(countOf(expired.expired_requests, "survey", "surveys") + older(requests)),
    webhooks === null
      ? null
      : words.delete(countOf(expired.expired_webhook_events, "webhook event", "webhook events") + older(webhooks)),
    expired.expired_log_lines === 0
      ? null
      : words.delete(countOf(expired.expired_log_lines, "log line", "log lines") + older(expired.log)),
  ];
  return parts.filter((part) => part !== null).join(", ");
}

const DAY = "2026-01-31";
