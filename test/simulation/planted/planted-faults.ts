/** Faults that the simulation must find; see `docs/testing.md`. */
import { ANSWER_FAULTS } from "./answer-faults.ts";
import { DELIVERY_FAULTS } from "./delivery-faults.ts";
import { PEOPLE_FAULTS } from "./people-faults.ts";
import type { PlantedFault } from "./plant.ts";
import { SERVER_FAULTS } from "./server-faults.ts";
import { STORE_FAULTS } from "./store-faults.ts";
import { WEBHOOK_FAULTS } from "./webhook-faults.ts";

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...DELIVERY_FAULTS,
  ...PEOPLE_FAULTS,
  ...ANSWER_FAULTS,
  ...WEBHOOK_FAULTS,
  ...STORE_FAULTS,
  ...SERVER_FAULTS,
];

/** The seed that finds each fault, if it isn't 1. `npm run simulate -- --planted all --seeds 2000` prints them. */
export const FOUND_AT: Readonly<Record<string, number>> = {
  "the mark is written after the last byte": 2,
  "nobody asks once more before a message goes": 4,
  "what may have arrived is tried again": 2,
  "what a dead process had marked is sent again": 2,
  "what is held is never released": 8,
  "a pause of everything is forgotten": 3,
  "the throttle is not asked": 3,
  "the limit of a day is not counted": 2,
  "whether a reminder is still wanted is not asked": 2,
  "a reminder comes once more": 2,
  "whether somebody may be written to is read only once": 15,
  "STOP is not kept": 12,
  "a bounce is not recorded": 4,
  "a list has the people of another project": 8,
  "whoever looks at a page has answered": 2,
  "a changed answer makes no event": 2,
  "an event is given up after its first failure": 26,
  "a write that fails is acknowledged": 3,
  "the id of a deleted row is given again": 5,
  "updated_at goes back with the clock": 14,
  "what waits counts from the newest write": 10,
  "a commit without an answer is taken for undone": 141,
  "a commit without an answer is taken for done": 37,
  "on a server, what waits counts from the newest write": 10,
};
