/** The looks of every page, in one place: light and dark, narrow and wide, from left to right and back. */

/** The whole style sheet; the pages have no other. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1d2329;--soft:#4d5862;--paper:#fff;--ground:#f3f4f6;--line:#8a949e;--link:#1f5fbf;--accent:#1f5fbf;--on-accent:#fff;--mark:#e8f0fc;--error:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#eceff2;--soft:#b4bdc6;--paper:#1b2026;--ground:#111519;--line:#7d8893;--link:#8ab8ff;--accent:#8ab8ff;--on-accent:#0b1a30;--mark:#22344d;--error:#ffb4ab}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:1.0625rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:38rem;margin:0 auto;padding:1.5rem 1rem 3rem}
@media (min-width:40rem){main{margin:8vh auto;padding:2.5rem;background:var(--paper);border:1px solid color-mix(in srgb,var(--line) 35%,transparent);border-radius:.75rem}}
.brand{margin:0 0 1.5rem;color:var(--soft);font-weight:600}
.brand img{display:block;max-height:3rem;max-width:60%}
h1{margin:0 0 1.25rem;font-size:1.375rem;line-height:1.3;text-wrap:balance}
p{margin:0 0 1rem;text-wrap:pretty}
:lang(ja){word-break:auto-phrase}
.soft{color:var(--soft)}
fieldset{margin:0 0 1.5rem;padding:0;border:0;min-width:0}
legend{padding:0;max-width:100%}
legend strong{display:block;margin:.25rem 0 .875rem}
.scale{display:flex;gap:2px;direction:ltr}
.scale label{position:relative;flex:1 1 0;min-width:24px}
.scale input{position:absolute;inset:0;width:100%;height:100%;margin:0;opacity:0;cursor:pointer}
.scale span{display:flex;align-items:center;justify-content:center;min-height:2.75rem;border:1px solid var(--line);border-radius:.375rem;background:var(--paper);font-variant-numeric:tabular-nums}
@media (min-width:30rem){.scale{gap:.375rem}}
.scale input:hover+span{background:var(--mark)}
.scale input:checked+span{background:var(--accent);border-color:var(--ink);color:var(--on-accent);font-weight:700}
.scale input:focus-visible+span{outline:3px solid var(--link);outline-offset:2px}
.ends{display:flex;justify-content:space-between;gap:1rem;margin:.5rem 0 0;font-size:.9375rem;color:var(--soft);direction:ltr}
.ends span{max-width:48%;unicode-bidi:isolate}
.ends span+span{text-align:right}
.comment{display:block;margin:0 0 .375rem;font-weight:600}
textarea{width:100%;min-height:7rem;padding:.625rem .75rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.375rem;resize:vertical}
button{min-height:2.75rem;margin:1rem 0 0;padding:.5rem 1.5rem;font:inherit;font-weight:600;color:var(--on-accent);background:var(--accent);border:1px solid transparent;border-radius:.375rem;cursor:pointer}
button.quiet{color:var(--link);background:none;border-color:var(--line)}
textarea:focus-visible,button:focus-visible,a:focus-visible,summary:focus-visible,.problem:focus-visible{outline:3px solid var(--link);outline-offset:2px}
output{display:block;min-height:1.5em;margin:.75rem 0 0;color:var(--soft)}
a{color:var(--link)}
summary{min-height:2.75rem;padding:.5rem 0;color:var(--link);cursor:pointer}
.problem{margin:0 0 1.5rem;padding:.875rem 1rem;border:2px solid var(--error);border-radius:.375rem}
.problem p{margin:0;font-weight:600}
.problem a{color:inherit}
#comment-hint{margin:.25rem 0 0;font-size:.9375rem}
blockquote{margin:0 0 1rem;padding:.25rem 0 .25rem 1rem;border-inline-start:3px solid var(--accent);white-space:pre-wrap;overflow-wrap:anywhere}
.wrong{margin:0 0 .5rem;color:var(--error);font-weight:600}
.said{white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.25rem;margin:1.5rem 0 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
@media (forced-colors:active){.scale input:checked+span{forced-color-adjust:none;background:Highlight;color:HighlightText;border-color:Highlight}}
@media print{main{border:0;margin:0}button{display:none}}
`.trim();
