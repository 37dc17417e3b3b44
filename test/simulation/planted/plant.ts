/** Plants a fault by replacing one function or class of the service. */

export type Work = ((...args: never[]) => unknown) | (new (...args: never[]) => object);

export interface PlantedFault {
  readonly name: string;
  /** Path below `src`. Only calls from other modules meet the fault. */
  readonly module: string;
  readonly function: string;
  /** True if only worlds on a database server meet it; by default only worlds on a data file do. */
  readonly isOfServer?: boolean;
  /** Returns the faulty function. */
  readonly plant: (original: Work) => Work;
}

/** `Original` is the type of the function to replace. */
export function fault<Original extends Work>(
  name: string,
  where: readonly [module: string, name: string],
  plant: (original: Original) => Original,
): PlantedFault {
  const [module, functionName] = where;
  return { name, module, function: functionName, plant: plant as unknown as PlantedFault["plant"] };
}

const chosen: { fault: PlantedFault | null; planted: Work | null } = { fault: null, planted: null };

/** Null removes the fault. */
export function choosePlanted(one: PlantedFault | null): void {
  Object.assign(chosen, { fault: one, planted: null });
}

/** Returns the current function or class; resolved at each call. Modules made by `bundle.js` call it. */
export function plantable(module: string, name: string, readOriginal: () => Work): Work {
  return function planted(...args: never[]): unknown {
    const { fault: one } = chosen;
    const isChosen = one !== null && one.module === module && one.function === name;
    const work = isChosen ? (chosen.planted ??= one.plant(readOriginal())) : readOriginal();
    return new.target === undefined ? Reflect.apply(work, undefined, args) : Reflect.construct(work, args);
  };
}
