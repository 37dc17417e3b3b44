/** What `service digest` asks for. Plain data, both ways. */
import * as v from "valibot";
import type { DigestState } from "../domain/delivery/digest-rows.ts";

export type DigestCommand =
  /** An address that has one gets the new schedule. */
  | {
      readonly kind: "digest.add";
      readonly project: string;
      readonly email: string;
      /** 0 is Sunday. */
      readonly weekday: number;
      /** Of the day. */
      readonly minute: number;
      /** Null follows the project's. */
      readonly zone: string | null;
    }
  | { readonly kind: "digest.list"; readonly project: string }
  /** `digest` is an id or an address. */
  | { readonly kind: "digest.remove"; readonly project: string; readonly digest: string };

const project = v.string();
const upTo = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));

export const DIGEST_COMMANDS = [
  v.object({
    kind: v.literal("digest.add"),
    project,
    email: v.string(),
    weekday: upTo(6),
    minute: upTo(1439),
    zone: v.nullable(v.string()),
  }),
  v.object({ kind: v.literal("digest.list"), project }),
  v.object({ kind: v.literal("digest.remove"), project, digest: v.string() }),
] as const;

export interface DigestInfo {
  readonly id: string;
  readonly email: string;
  readonly every: string;
  /** `08:00`. */
  readonly at: string;
  readonly tz: string;
  readonly state: DigestState | "unsubscribed";
  readonly next_at: number | null;
  readonly last_sent_at: number | null;
  /** What was said last; null where nothing was. */
  readonly reason: string | null;
  readonly created_at: number;
}

export interface DigestResults {
  "digest.add": DigestInfo;
  "digest.list": readonly DigestInfo[];
  "digest.remove": { readonly id: string; readonly email: string };
}
