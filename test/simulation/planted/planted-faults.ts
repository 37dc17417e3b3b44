/** Faults that the simulation must find; see `docs/testing.md`. */
import { ANSWER_FAULTS } from "./answer-faults.ts";
import { DELIVERY_FAULTS } from "./delivery-faults.ts";
import { PEOPLE_FAULTS } from "./people-faults.ts";
import type { PlantedFault } from "./plant.ts";
import { STORE_FAULTS } from "./store-faults.ts";
import { WEBHOOK_FAULTS } from "./webhook-faults.ts";

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...DELIVERY_FAULTS,
  ...PEOPLE_FAULTS,
  ...ANSWER_FAULTS,
  ...WEBHOOK_FAULTS,
  ...STORE_FAULTS,
];

/** By name, a seed that finds it: `npm run simulate -- --planted all --seeds 2000` prints the first ones. */
export const FOUND_AT: Readonly<Record<string, number>> = {};
