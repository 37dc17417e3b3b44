/**
 * Sends the form at the first tap, click or Enter, so that one click in a mail is an answer. Link scanners open pages
 * in real browsers, scroll and wait, but make no trusted gesture. So nothing is sent until the page has been visible
 * for a second and a trusted event came; scrolling ends in `pointercancel`. The form is read 300 ms later: a tap that
 * changes 9 to 3 sends only 3. Later gestures, and typing once a score is stored, send changes. The button always
 * works.
 */
export const ANSWER_AT_A_GESTURE =
  `{let f=document.forms[0],o=document.querySelector("output"),s=()=>document.hidden?0:performance.now(),v=s(),l,t;` +
  `let g=e=>{if(e.isTrusted&&!e.button&&(!e.key||e.key=="Enter")&&v&&performance.now()-v>999){clearTimeout(t);t=setTimeout(()=>{let b=new URLSearchParams(new FormData(f)),n=b.get("score");` +
  `b.set("by","script");if(n&&b+""!=l){l=b+"";fetch(f.action,{method:"POST",body:b}).then(r=>{r.status==204?(f.comment.oninput=g,o.textContent=o.dataset.text.replace("{score}",n),o.className="done"):l=0},()=>l=0)}},300)}};` +
  `document.onvisibilitychange=()=>v=s();onpointerup=onkeydown=g}`;
