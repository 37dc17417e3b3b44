/** The columns that `--columns` offers, for each command that has rows or a record. */
import { PROFILES, STATUS } from "../commands/auth/resource.ts";
import { RUNS } from "../commands/import/runs.ts";
import { KEYS, NEW_KEY, NEW_PROJECT, PROJECTS, REMOVED, THROTTLE, TRENDS } from "../commands/service/resources.ts";
import {
  ADDED_MEMBER,
  AUTOPILOT_CONFIGURATION,
  BOUNCES,
  MEMBERS,
  METRICS,
  PEOPLE,
  REMOVED_MEMBER,
  RESPONSES,
  SENT_PERSON,
  UNSUBSCRIBES,
} from "../render/resources.ts";
import type { Resource } from "../render/columns.ts";

const RESOURCES: Readonly<Record<string, Resource>> = {
  "people list": PEOPLE,
  "people get": PEOPLE,
  "people export": PEOPLE,
  "people add": SENT_PERSON,
  "people update": SENT_PERSON,
  "responses list": RESPONSES,
  "responses get": RESPONSES,
  "responses add": RESPONSES,
  "responses export": RESPONSES,
  "bounces list": BOUNCES,
  "bounces export": BOUNCES,
  "unsubscribes list": UNSUBSCRIBES,
  "unsubscribes export": UNSUBSCRIBES,
  "autopilot list": MEMBERS,
  "autopilot export": MEMBERS,
  "autopilot add": ADDED_MEMBER,
  "autopilot remove": REMOVED_MEMBER,
  "autopilot config": AUTOPILOT_CONFIGURATION,
  metrics: METRICS,
  "import status": RUNS,
  "service project add": NEW_PROJECT,
  "service project list": PROJECTS,
  "service key add": NEW_KEY,
  "service key list": KEYS,
  "service key revoke": REMOVED,
  "service throttle": THROTTLE,
  "service autopilot": AUTOPILOT_CONFIGURATION,
  "service trend add": TRENDS,
  "service trend list": TRENDS,
  "service trend remove": REMOVED,
  "auth status": STATUS,
  "auth list": PROFILES,
};

/** `path` is the command's name without the program's: `people list`. */
export function columnsOf(path: string): readonly string[] {
  return RESOURCES[path]?.columns.map(({ name }) => name) ?? [];
}
