import { UNSUBSCRIBES } from "../../render/resources.ts";
import { suppressionCommands } from "../shared/suppressions.ts";

export const commands = suppressionCommands({
  noun: "unsubscribes",
  verb: "unsubscribed",
  columns: UNSUBSCRIBES,
  method: "listUnsubscribes",
});
