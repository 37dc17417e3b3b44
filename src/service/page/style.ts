export const STYLE = `
:root{color-scheme:light dark;--ink:#1d2329;--soft:#4d5862;--paper:#fff;--ground:#f3f4f6;--line:#8a949e;--link:#1f5fbf;--accent:#1f5fbf;--on-accent:#fff;--mark:#e8f0fc;--error:#b3261e;--good:#11693c;--edge:#dfe3e8;--shade:#0b1a3012}
@media (prefers-color-scheme:dark){:root{--ink:#eceff2;--soft:#b4bdc6;--paper:#1b2026;--ground:#111519;--line:#7d8893;--link:#8ab8ff;--accent:#8ab8ff;--on-accent:#0b1a30;--mark:#22344d;--error:#ffb4ab;--good:#7fd6a4;--edge:#323a43;--shade:#0004}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;-webkit-text-size-adjust:100%}
main{overflow-wrap:break-word;max-width:40rem;margin:0 auto;padding:1.25rem 1rem 3rem;border-top:4px solid var(--accent)}
@media (min-width:40rem){body{background:var(--ground)}
main{margin:min(10vh,6rem) auto 3rem;padding:2.5rem 3rem 3rem;background:var(--paper);border-radius:.75rem;box-shadow:0 0 0 1px var(--edge),0 1px 2px var(--shade),0 12px 32px var(--shade)}}
.brand{margin:0 0 1.5rem;color:var(--soft);font-weight:600}
.brand img{display:block;max-height:3rem;max-width:60%}
@media (prefers-color-scheme:dark){.brand img{box-sizing:content-box;padding:.5rem .625rem;background:#fff;border-radius:.5rem}}
h1{margin:0 0 1rem;font-size:1.4375rem;line-height:1.28;text-wrap:balance}
@media (min-width:40rem){h1{font-size:1.75rem}}
p{margin:0 0 1rem;text-wrap:pretty}
:lang(ja){word-break:auto-phrase}
.soft{color:var(--soft)}
fieldset{margin:0 0 2rem;padding:0;border:0;min-width:0}
legend{padding:0;max-width:100%}
legend strong{display:block;margin:.25rem 0 .875rem}
.scale{display:grid;gap:4px;direction:ltr}
.scale div{display:flex;gap:4px}
.scale label{position:relative;flex:1 1 0;min-width:0}
.scale input{position:absolute;inset:0;width:100%;height:100%;margin:0;opacity:0;cursor:pointer}
.scale span{display:flex;align-items:center;justify-content:center;min-height:3rem;border:1px solid var(--line);border-radius:.375rem;background:var(--paper);font-variant-numeric:tabular-nums}
@media (min-width:48rem){.scale{display:flex;gap:.3125rem}.scale div{display:contents}.scale span{min-height:3.25rem;border-radius:.5rem;font-size:1.125rem}}
.scale input:hover+span{background:var(--mark);border-color:var(--ink)}
.scale input:checked+span{background:var(--accent);border-color:var(--ink);color:var(--on-accent);font-weight:700}
.scale input:focus-visible+span{outline:3px solid var(--link);outline-offset:2px}
.ends{display:flex;justify-content:space-between;gap:1rem;margin:.5rem 0 0;font-size:.9375rem;line-height:1.35;color:var(--soft);direction:ltr}
.ends>span{max-width:48%;unicode-bidi:isolate}
.ends>span+span{text-align:right}
.choice{display:flex;gap:.75rem;align-items:center;min-height:2.75rem;padding:.25rem 0;cursor:pointer}
.choice input{flex:none;width:1.25rem;height:1.25rem;margin:0;accent-color:var(--link)}
.choice span{min-width:0;overflow-wrap:anywhere}
.more{margin:0 0 2rem}
legend,.comment label{overflow-wrap:anywhere}
@media (min-width:48rem){.heard{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}}
output{display:block;margin:0 0 1rem;color:var(--soft)}
output.done{color:var(--good);font-weight:600}
output.done::before{content:"\\2713\\a0"/""}
.comment{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:0 1rem;margin:0 0 .5rem}
.comment label{font-weight:600}
.comment span{font-size:.9375rem}
textarea{display:block;width:100%;min-height:7rem;padding:.625rem .75rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.5rem;resize:vertical}
button,.go{display:inline-block;min-height:3rem;margin:1.25rem 0 0;padding:.6875rem 1.75rem;font:inherit;font-weight:600;color:var(--on-accent);background:var(--accent);border:1px solid transparent;border-radius:.5rem;text-decoration:none;cursor:pointer}
@media (max-width:29.99rem){button,.go{width:100%;padding-inline:1rem;text-align:center}}
.go{margin:.25rem 0}
button:hover,.go:hover{box-shadow:inset 0 0 0 99px var(--shade)}
button.quiet{color:var(--link);background:none;border-color:currentcolor}
textarea:focus-visible,.choice input:focus-visible,button:focus-visible,a:focus-visible,summary:focus-visible,.problem:focus-visible{outline:3px solid var(--link);outline-offset:2px}
a{display:inline-block;min-width:2.75rem;padding:.625rem 0;color:var(--link)}
details{margin:0 0 1rem}
summary{min-height:2.75rem;padding:.5rem 0;list-style:none;cursor:pointer}
summary::-webkit-details-marker{display:none}
.link{color:var(--link);text-decoration:underline}
.problem{margin:0 0 1.5rem;padding:.5rem 1rem;border:2px solid var(--error);border-radius:.5rem}
.problem p{margin:0;font-weight:600}
.problem a{color:inherit}
.given{display:inline-block;margin:0 .25rem;min-width:2.25rem;padding:.25rem .5rem;border-radius:.375rem;background:var(--accent);color:var(--on-accent);text-align:center;font-variant-numeric:tabular-nums}
.stored{margin:1.75rem 0 0;padding:1.25rem 0 0;border-top:1px solid var(--edge)}
details[open]+blockquote{display:none}
blockquote{margin:0 0 1rem;padding-block:.125rem;padding-inline:1rem 0;border-inline-start:3px solid var(--edge);white-space:pre-wrap}
.wrong{margin:0 0 .5rem;color:var(--error);font-weight:600}
.said{white-space:pre-wrap}
dl{margin:1.5rem 0 0}
dt{color:var(--soft);font-size:.9375rem;overflow-wrap:anywhere}
dd{margin:0 0 .75rem;overflow-wrap:anywhere}
@media (min-width:40rem){dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.375rem 1.5rem}dt{max-width:14rem}dt,dd{margin:0;line-height:1.6}}
@media (forced-colors:active){.scale input:checked+span,.given{forced-color-adjust:none;background:Highlight;color:HighlightText;border-color:Highlight}.go{border-color:currentcolor}}
@media print{main{border:0;margin:0;box-shadow:none}button{display:none}}
`.trim();
