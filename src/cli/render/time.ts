export const TIME_FORMATS = ["unix", "iso", "local", "relative"] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];
