/** Everything that is checked before the first mail. */
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import type { NameResolver } from "../../../runtime/name-resolver.ts";
import { sampleSurvey } from "../../domain/preview.ts";
import { checkNames } from "./check-names.ts";
import { checkConnection } from "./check-server.ts";
import { checkSettings } from "./check-settings.ts";
import type { Finding, MailSetup } from "./finding.ts";

export interface Outside {
  readonly names: NameResolver;
  readonly signal: AbortSignal;
}

/** One finding for each check, in a fixed order. Without `outside` nobody is asked. Sends no mail. */
export async function examineMail(setup: MailSetup, clock: Clock, outside: Outside | null): Promise<Finding[]> {
  const settings = checkSettings(setup, sampleSurvey({ now: unixSeconds(clock) }));
  if (outside === null) return settings;
  const { names, signal } = outside;
  const [found, heard] = await Promise.all([checkNames(names, setup), checkConnection(setup, { clock, signal })]);
  return [...settings, ...found, ...heard];
}
