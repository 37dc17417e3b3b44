export const REPORT_STYLE = `
:root{--paper:#fff;--ink:#16191d;--soft:#565e66;--grid:#d8dde1;--axis:#6b737b;--band:#c3dfec;--score:#00588f}
:root{--detractor:#c3372b;--passive:#8a949c;--promoter:#1b7f6b;--mark:#d1102a;--panel:#f3f5f6}
:root{--detractor-ink:#b02a1f;--passive-ink:#565e66;--promoter-ink:#12705d}
@media screen and (prefers-color-scheme:dark){
:root{--paper:#14171a;--ink:#eceff1;--soft:#a9b2ba;--grid:#333a41;--axis:#8d969e;--band:#1d4a66;--score:#7cc4ec}
:root{--detractor:#f0776a;--passive:#88929b;--promoter:#43b79d;--mark:#ff5a68;--panel:#1d2226}
:root{--detractor-ink:#ff8f82;--passive-ink:#b3bbc2;--promoter-ink:#5fcbb3}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 "Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif;
font-variant-numeric:tabular-nums}
main,header,footer{max-width:42rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.25rem}
header::before{content:"";display:block;width:2.6rem;height:.5rem;background:var(--mark);margin-bottom:1rem}
.kicker{margin:0;color:var(--soft);font-size:.875rem}
h1,h2{font-family:Georgia,"Times New Roman","Liberation Serif",serif;font-weight:700;line-height:1.2}
h1{font-size:1.5rem;margin:.1rem 0 0;overflow-wrap:anywhere}
.score{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 1.5rem;margin:1.1rem 0 .35rem}
.number{margin:0;font-size:2.5rem;line-height:1.2;font-weight:700;letter-spacing:-.01em}
.number small{font-size:1rem;font-weight:400;letter-spacing:0;color:var(--soft)}.number.few{color:var(--soft)}
.change{margin:0}svg.spark{flex:none;width:7.5rem;height:2rem}.spark .line{vector-effect:non-scaling-stroke}
.rests{color:var(--soft);margin:0 0 1rem;text-wrap:balance}
section{margin-top:2.25rem;border-top:1px solid var(--ink);padding-top:.65rem}
h2{font-size:1.2rem;margin:0}
.deck{margin:.1rem 0 .9rem;color:var(--soft);font-size:.9375rem}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:1rem 1.5rem;margin:.8rem 0 0}
dt{color:var(--soft);font-size:.875rem}
dd{margin:0;font-size:1.2rem}
figure{margin:0}
h3{font-size:.9375rem;margin:1.2rem 0 .2rem;overflow-wrap:anywhere}
svg{width:100%;height:auto;overflow:visible}.broad{display:block}
svg text{font-family:inherit;font-size:10.5px;fill:var(--soft)}
.grid{stroke:var(--grid);stroke-width:.8}
.zero{stroke:var(--axis);stroke-width:1}
.band{fill:var(--band)}
.line{fill:none;stroke:var(--score);stroke-width:1.8;stroke-linecap:round}
.faint{stroke-width:.9;stroke-dasharray:2.5 3.5}
.whisker{stroke:var(--band);stroke-width:7}
.point,.few{stroke:var(--score);stroke-width:1.6;fill:var(--score)}
.few{fill:var(--paper)}
svg .name,svg .share,svg .value{fill:var(--ink)}
svg .value,svg .share{font-weight:700}
svg .value{font-size:12.5px;fill:var(--score);paint-order:stroke;stroke:var(--paper);stroke-width:3px}
svg .note{font-size:9.5px}
rect.detractor{fill:var(--detractor)}rect.passive{fill:var(--passive)}rect.promoter{fill:var(--promoter)}
path.rule{fill:none;stroke-width:2}
path.detractor{stroke:var(--detractor)}path.passive{stroke:var(--passive)}path.promoter{stroke:var(--promoter)}
svg.bar{display:block;height:.3rem;margin-top:.1rem}svg.kinds{height:.75rem;max-width:none;margin:0 0 1rem}
.key::before{content:"";display:inline-block;width:.7em;height:.7em;margin-right:.4em}
.key.detractor::before{background:var(--detractor)}.key.passive::before{background:var(--passive)}.key.promoter::before{background:var(--promoter)}
.portion rect{fill:var(--score)}.portion .rest{fill:var(--grid)}
text.detractor,text.promoter,text.passive{font-weight:700}
svg text.detractor,.detractor>b{fill:var(--detractor-ink);color:var(--detractor-ink)}
svg text.passive,.passive>b{fill:var(--passive-ink);color:var(--passive-ink)}
svg text.promoter,.promoter>b{fill:var(--promoter-ink);color:var(--promoter-ink)}
summary{cursor:pointer;min-height:2.75rem;color:var(--soft);font-size:.875rem;padding:.7rem 0}
summary:focus-visible{outline:2px solid var(--score);outline-offset:2px}
.kind>summary{color:var(--ink);font-size:1rem;font-weight:700;border-bottom:1px solid var(--grid)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.875rem;margin:.2rem 0 .5rem}
caption{text-align:left;color:var(--soft);padding:.2rem 0}
th,td{padding:.25rem .6rem .25rem 0;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
th:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:6rem}
thead th{font-weight:400;color:var(--soft);border-bottom-color:var(--axis)}
tbody th{font-weight:400}
.aside{color:var(--soft);font-size:.875rem;margin:.4rem 0 0}
ol{list-style:none;margin:0;padding:0}
li{padding:.65rem 0;border-bottom:1px solid var(--grid);break-inside:avoid}
.who{margin:0;color:var(--soft);font-size:.8125rem;overflow-wrap:anywhere}
.who a{padding:.9rem .5rem;margin:0 -.5rem;color:inherit}
.who>b{display:inline-block;min-width:1.6em;margin-inline-end:.4em;font-size:.9375rem}.who bdi b{color:var(--ink)}
blockquote{margin:.1rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}
code{font:.8125rem/1.5 ui-monospace,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
pre{margin:.6rem 0;padding:.7rem .85rem;background:var(--panel);white-space:pre-wrap}
footer{padding-bottom:3rem}
footer section{color:var(--soft);font-size:.875rem}
footer h2{color:var(--ink)}
@media (min-width:40rem){dl{grid-template-columns:repeat(3,1fr)}}
.narrow{display:none}
@media screen and (max-width:40rem){.broad text{font-size:12.5px}.broad .value{font-size:14px}.broad .group,.broad .share{font-size:12px}}
@media (max-width:32rem){.number{font-size:2rem}th,td{padding-right:.4rem;font-size:.8125rem}th:first-child{min-width:4.5rem}}
@media screen and (max-width:479px){.broad{display:none}.narrow{display:block}.narrow text{font-size:12.5px}
.narrow .value{font-size:14px}.narrow .note,.narrow .group,.narrow .share{font-size:12px}}
@media print{@page{margin:16mm}body{font-size:10pt}main,header,footer{max-width:none;padding:0}header{padding-top:0}
section{margin-top:1.6rem}dl{grid-template-columns:repeat(6,auto);gap:.5rem 1rem}
h2,h3,.deck,summary{break-after:avoid}svg{max-width:150mm;margin:0 auto;max-height:235mm;break-inside:avoid;break-after:avoid}figure:has(h3){break-inside:avoid}h3+svg{max-width:125mm}
svg text{font-size:9.5px}
details::details-content{content-visibility:visible;block-size:auto}summary{list-style:none}
thead{display:table-header-group}table,tr,.aside,pre{break-inside:avoid}table{font-size:8.5pt;max-width:150mm;margin:0 auto .5rem}
th,td{padding-top:.1rem;padding-bottom:.1rem}figure>.aside,figure summary{max-width:150mm;margin-inline:auto}
ol{columns:2;column-gap:8mm}li{font-size:9pt;padding:.4rem 0}
header::before,.key::before,rect,.band,.rule{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`;
