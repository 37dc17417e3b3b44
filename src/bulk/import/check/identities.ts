/** The people seen so far. A million rows take some 150 MB. */
import { domainToASCII } from "node:url";
import { emailKey, isAscii } from "../../../contract/text/email.ts";
import type { RowValues } from "./row-kind.ts";

export interface Identities {
  /** The line that is remembered of the same person; null for a new person, who is remembered. */
  seen(identity: string, line: number): number | null;
}

/**
 * The same e-mail is the same person, without regard to case, to compatible forms of a character (NFKC) and to how an
 * international domain is written; so is the same phone where there is no e-mail.
 */
export function identityOf(values: RowValues): string {
  const { email, phone_number: phone, person_id: id } = values;
  if (typeof email === "string") return addressKey(email);
  return typeof phone === "string" ? phone : `#${String(id)}`;
}

function addressKey(email: string): string {
  return isAscii(email) ? emailKey(email) : compatibleKey(email);
}

function compatibleKey(email: string): string {
  const key = emailKey(email.normalize("NFKC"));
  const at = key.lastIndexOf("@");
  const domain = key.slice(at + 1);
  return `${key.slice(0, at)}@${domainToASCII(domain) || domain}`;
}

/** A Map holds some 16 million keys at most; a fuller one gets a neighbour. */
const KEYS_MAX = 8_000_000;

/** `remember` is the line that is kept of a person who occurs twice. */
export function createIdentities(remember: "first" | "last"): Identities {
  const maps = [new Map<string, number>()];
  return {
    seen(identity, line) {
      const holder = maps.find((map) => map.has(identity));
      if (holder === undefined) {
        if ((maps.at(-1)?.size ?? 0) >= KEYS_MAX) maps.push(new Map());
        maps.at(-1)?.set(identity, line);
        return null;
      }
      const before = holder.get(identity) ?? null;
      if (remember === "last") holder.set(identity, line);
      return before;
    },
  };
}
