import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { SCRIPTS, SHELLS } from "./scripts.ts";

export const commands = [
  defineCommand({
    args: { shell: { form: "<shell>", text: "shell to write the script for", choices: SHELLS } },
    examples: [
      "source <(surveyctl completion bash)",
      "echo 'source <(surveyctl completion zsh)' >> ~/.zshrc",
      "surveyctl completion fish > ~/.config/fish/completions/surveyctl.fish",
    ],
    exits: [EXIT.done],
    run: ({ streams }, { shell }) => streams.out.write(SCRIPTS[shell]),
  }),
];
