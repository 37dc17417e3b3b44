import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";

const CONFIGURATION = {
  mcpServers: { surveyctl: { command: "surveyctl", args: ["mcp", "--profile", "agent"] } },
};

export const commands = [
  defineCommand({
    about: [
      "Add it to the configuration of an agent:",
      JSON.stringify(CONFIGURATION, null, 2),
      "The profile should have a read-only key: surveyctl service key add --read-only.",
    ],
    examples: ["surveyctl mcp", "surveyctl mcp --profile reports"],
    exits: [EXIT.done, EXIT.auth],
    run: async (deps) => {
      const { serveTools } = await import("./serve-tools.ts");
      return serveTools(deps);
    },
  }),
];
