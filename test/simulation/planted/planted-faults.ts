/** Faults that the simulation must find; see `docs/testing.md`. */
import type { PlantedFault } from "./plant.ts";

export const PLANTED_FAULTS: readonly PlantedFault[] = [];
