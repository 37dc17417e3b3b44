declare module "jstat" {
  const jstat: {
    readonly normal: {
      cdf(x: number, mean: number, standardDeviation: number): number;
      inv(p: number, mean: number, standardDeviation: number): number;
    };
  };
  export default jstat;
}
