import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";

export const commands = [
  defineCommand({
    examples: ["surveyctl mcp", "surveyctl mcp --profile reports"],
    exits: [EXIT.done, EXIT.auth],
    run: async (deps) => {
      const { serveTools } = await import("./serve-tools.ts");
      return serveTools(deps);
    },
  }),
];
