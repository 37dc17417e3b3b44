import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";

export const commands = [
  defineCommand({
    examples: ["surveyctl demo", "surveyctl demo --no-pause --no-color > demo.txt"],
    exits: [EXIT.done, EXIT.failed, EXIT.interrupted, EXIT.terminated],
    flags: { noPause: { text: "do not wait for Enter between steps" } },
    run: async (deps, { noPause }) => {
      const { runDemo } = await import("./run.ts");
      await runDemo(deps, !noPause);
    },
  }),
];
