import { writeFile } from "node:fs/promises";
import path from "node:path";

export interface CalledCommand {
  readonly name: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly writes?: boolean;
}

/** `folder` has the command's inputs and gets its results and exports. */
export async function everyCommand(folder: string): Promise<readonly CalledCommand[]> {
  await writeFile(path.join(folder, "people.csv"), "email,name\nann@example.com,Ann\n");
  await writeFile(path.join(folder, "answers.csv"), "person_email,score\nann@example.com,9\n");
  return commandsOf(folder);
}

export function commandsOf(folder: string): readonly CalledCommand[] {
  const at = (name: string): string => path.join(folder, name);
  const bulk = ["--quiet", "--results", at("results.csv")];
  return [
    { name: "people list", args: ["people", "list"] },
    { name: "people get", args: ["people", "get", "ann@example.com"] },
    { name: "people add", args: ["people", "add", "--email", "ann@example.com"], writes: true },
    { name: "people update", args: ["people", "update", "ann@example.com", "--name", "Ann", "--create"], writes: true },
    { name: "people import", args: ["people", "import", at("people.csv"), "--send", ...bulk], writes: true },
    { name: "people export", args: ["people", "export", "--out", at("people.out.csv")] },
    { name: "responses list", args: ["responses", "list"] },
    { name: "responses add", args: ["responses", "add", "--person-id", "7", "--score", "9"], writes: true },
    { name: "responses import", args: ["responses", "import", at("answers.csv"), ...bulk], writes: true },
    { name: "responses export", args: ["responses", "export", "--out", at("responses.csv")] },
    { name: "responses show", args: ["responses", "show", "7"] },
    { name: "responses note", args: ["responses", "note", "7", "Called"], writes: true },
    { name: "responses words", args: ["responses", "words"] },
    { name: "bounces list", args: ["bounces", "list"] },
    { name: "bounces export", args: ["bounces", "export", "--out", at("bounces.csv")] },
    { name: "unsubscribes list", args: ["unsubscribes", "list"] },
    { name: "unsubscribes export", args: ["unsubscribes", "export", "--out", at("unsubscribes.csv")] },
    { name: "metrics", args: ["metrics"] },
    { name: "metrics by month", args: ["metrics", "--by", "month", "--since", "2026-01-01", "--until", "2026-02-28"] },
    { name: "autopilot list", args: ["autopilot", "list"] },
    { name: "autopilot export", args: ["autopilot", "export", "--out", at("members.csv")] },
    { name: "autopilot add", args: ["autopilot", "add", "--email", "ann@example.com"], writes: true },
    { name: "autopilot remove", args: ["autopilot", "remove", "--email", "ann@example.com", "--yes"], writes: true },
    { name: "autopilot import", args: ["autopilot", "import", at("people.csv"), "--send", ...bulk], writes: true },
    {
      name: "autopilot remove --from",
      args: ["autopilot", "remove", "--from", at("people.csv"), "--yes", ...bulk],
      writes: true,
    },
    { name: "autopilot config", args: ["autopilot", "config"] },
    { name: "api GET", args: ["api", "GET", "/v1/people.json"] },
    { name: "api GET --paginate", args: ["api", "GET", "/v1/people.json", "--paginate"] },
    { name: "api POST", args: ["api", "POST", "/v1/people.json", "-f", "email=ann@example.com"], writes: true },
    { name: "auth status", args: ["auth", "status"] },
    { name: "auth login", args: ["auth", "login", "--profile", "faults"], stdin: "key-of-the-login" },
  ];
}
