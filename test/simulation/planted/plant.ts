/** How a fault is planted: one function or class of the service is changed while the fault is chosen. */

/** Any function or class of the service. */
export type Work = ((...args: never[]) => unknown) | (new (...args: never[]) => object);

export interface PlantedFault {
  readonly name: string;
  /** Below `src`. Only calls from other modules meet the fault. */
  readonly module: string;
  readonly function: string;
  /** Only a world whose data is on a server meets it; absent: only one whose data is in a file. */
  readonly isOfServer?: boolean;
  /** The function as the fault makes it. */
  readonly plant: (original: Work) => Work;
}

/** `Original` is the type of the function that the fault is in. */
export function fault<Original extends Work>(
  name: string,
  where: readonly [module: string, name: string],
  plant: (original: Original) => Original,
): PlantedFault {
  const [module, functionName] = where;
  return { name, module, function: functionName, plant: plant as unknown as PlantedFault["plant"] };
}

const chosen: { fault: PlantedFault | null; planted: Work | null } = { fault: null, planted: null };

/** Null: the service as it is. */
export function choosePlanted(one: PlantedFault | null): void {
  Object.assign(chosen, { fault: one, planted: null });
}

/** The function or class, as it is at the time of each call. Called by the modules that `bundle.js` makes. */
export function plantable(module: string, name: string, readOriginal: () => Work): Work {
  return function planted(...args: never[]): unknown {
    const { fault: one } = chosen;
    const isChosen = one !== null && one.module === module && one.function === name;
    const work = isChosen ? (chosen.planted ??= one.plant(readOriginal())) : readOriginal();
    return new.target === undefined ? Reflect.apply(work, undefined, args) : Reflect.construct(work, args);
  };
}
