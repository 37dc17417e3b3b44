/** Columns of results, each table as its command prints it. */
import { OUTPUTS } from "../../../service/operations/define/outputs.ts";
import { toResource } from "../../render/columns.ts";

export { toResource };

export const DELIVERIES = toResource("surveys", OUTPUTS["delivery.list"], [
  "phone_number",
  "channel",
  "attempts",
  "sent_at",
]);
export const REMOVED = toResource("rows", OUTPUTS["key.revoke"]);
