import { type CommandNode, defineGroup } from "../kit/command-node.ts";

export interface CommandGroup {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  readonly section: "Survey data" | "Service" | "Connection and more";
  readonly load: () => Promise<{ readonly commands: readonly CommandNode[]; readonly about?: CommandNode["about"] }>;
}

export async function loadGroup(group: CommandGroup): Promise<CommandNode> {
  return defineGroup({ ...group, ...(await group.load()) });
}

export function loadGroups(): Promise<CommandNode[]> {
  return Promise.all(COMMAND_GROUPS.map(loadGroup));
}

export const COMMAND_GROUPS: readonly CommandGroup[] = [
  {
    section: "Survey data",
    name: "people",
    alias: "person",
    summary: "list, add, update, import and export the people you survey",
    load: () => import("../commands/people/index.ts"),
  },
  {
    section: "Survey data",
    name: "responses",
    alias: "response",
    summary: "list, search, tag, sum up and export survey responses",
    load: () => import("../commands/responses/index.ts"),
  },
  {
    section: "Survey data",
    name: "bounces",
    alias: "bounce",
    summary: "list and export bounced addresses",
    load: () => import("../commands/bounces/index.ts"),
  },
  {
    section: "Survey data",
    name: "unsubscribes",
    alias: "unsubscribe",
    summary: "list and export unsubscribed people",
    load: () => import("../commands/unsubscribes/index.ts"),
  },
  {
    section: "Survey data",
    name: "metrics",
    summary: "show NPS and counts, in total or by period",
    load: () => import("../commands/metrics/index.ts"),
  },
  {
    section: "Survey data",
    name: "report",
    summary: "write the score, its history and comments to one HTML file",
    load: () => import("../commands/report/index.ts"),
  },
  {
    section: "Survey data",
    name: "digest",
    summary: "summarize the last few days as text, an e-mail or a Slack message",
    load: () => import("../commands/digest/index.ts"),
  },
  {
    section: "Survey data",
    name: "autopilot",
    summary: "manage recurring surveys: who gets them and how often",
    load: () => import("../commands/autopilot/index.ts"),
  },
  {
    section: "Survey data",
    name: "imports",
    alias: "import",
    summary: "list and clean up the records of bulk imports",
    load: () => import("../commands/imports/index.ts"),
  },
  {
    section: "Service",
    name: "serve",
    summary: "run the server, with a SQLite file or PostgreSQL",
    load: () => import("../commands/serve/index.ts"),
  },
  {
    section: "Service",
    name: "service",
    summary: "manage a server's projects, keys and settings",
    load: () => import("../commands/service/index.ts"),
  },
  {
    section: "Connection and more",
    name: "auth",
    summary: "manage saved connections",
    load: () => import("../commands/auth/index.ts"),
  },
  {
    section: "Connection and more",
    name: "api",
    summary: "make a raw API request",
    load: () => import("../commands/api/index.ts"),
  },
  {
    section: "Connection and more",
    name: "mcp",
    summary: "serve read-only tools to an agent, on stdin and stdout",
    load: () => import("../commands/mcp/index.ts"),
  },
  {
    name: "demo",
    summary: "run a complete example step by step, in a temporary folder",
    section: "Connection and more",
    load: () => import("../commands/demo/index.ts"),
  },
  {
    name: "completion",
    summary: "print a completion script for bash, zsh, fish or PowerShell",
    section: "Connection and more",
    load: () => import("../commands/completion/index.ts"),
  },
];
