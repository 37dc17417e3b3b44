import { BOUNCES } from "../../render/resources.ts";
import { suppressionCommands } from "../shared/suppressions.ts";

export const commands = suppressionCommands({
  noun: "bounces",
  verb: "bounced",
  columns: BOUNCES,
  method: "listBounces",
});
