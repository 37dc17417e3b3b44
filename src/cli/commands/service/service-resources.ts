/** Columns of results, each table as its command prints it. */
import { toResource } from "../../render/columns.ts";

export { toResource };

export const DELIVERIES = toResource(
  "surveys",
  {
    id: "id",
    channel: "text",
    email: "text",
    phone_number: "phone",
    state: "status",
    reason: "text",
    due_at: "time",
    sent_at: "time",
    attempts: "number",
  },
  ["phone_number", "channel", "attempts", "sent_at"],
);
export const REMOVED = toResource("rows", { id: "id" });
