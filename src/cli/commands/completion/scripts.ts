/** Each script calls the program, which prints candidates, or `:files` to complete file names. */

const BASH = String.raw`# bash completion for surveyctl; in ~/.bashrc:  source <(surveyctl completion bash)
_surveyctl() {
  local line=${"${COMP_LINE:0:COMP_POINT}"} words current prefix candidate
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${"${words[${#words[@]}-1]}"}
  # Readline ends words at ":" and "=": the part before is already on the line.
  prefix=${'${current%"${current##*[:=]}"}'}
  unset "words[${"${#words[@]}"}-1]"
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    [[ $candidate == :files ]] && { compopt -o default 2>/dev/null; return; }
    COMPREPLY+=("${'${candidate#"$prefix"}'}")
  done < <("${"${words[0]}"}" __complete "${"${words[@]:1}"}" "=$current" 2>/dev/null)
}
complete -F _surveyctl surveyctl
`;

const ZSH = String.raw`#compdef surveyctl
# zsh completion for surveyctl; in ~/.zshrc, after compinit:  source <(surveyctl completion zsh)
_surveyctl() {
  local -a found
  local value description
  while IFS=$'\t' read -r value description; do
    found+=("${"${value//:/\\\\:}"}${"${description:+:$description}"}")
  done < <("$words[1]" __complete "${"${(@)words[2,CURRENT-1]}"}" "=$words[CURRENT]" 2>/dev/null)
  if [[ $found == ":files" || $found == "\\:files" ]]; then _files; elif (( $#found )); then _describe -V surveyctl found; fi
}
if [[ $funcstack[1] == _surveyctl ]]; then _surveyctl "$@"; else compdef _surveyctl surveyctl; fi
`;

const FISH = String.raw`# fish completion for surveyctl; in ~/.config/fish/config.fish:  surveyctl completion fish | source
function __surveyctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -l found ($program __complete $words[2..-1] "=$current" 2>/dev/null)
    if test "$found" = ":files"
        __fish_complete_path "$current"
    else if test (count $found) -gt 0
        printf '%s\n' $found
    end
end
complete -c surveyctl -f -k -a '(__surveyctl_complete)'
`;

const POWERSHELL = String.raw`# PowerShell completion for surveyctl; in $PROFILE:  surveyctl completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName surveyctl -ScriptBlock {
  param($current, $ast, $cursor)
  $elements = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor -or ($current -eq '' -and $_.Extent.EndOffset -le $cursor) })
  $before = @($elements | Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
  & surveyctl __complete @before "=$current" 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
    $value, $description = $_ -split "${"`t"}", 2
    if (-not $description) { $description = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
  }
}
`;

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

export const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  powershell: POWERSHELL,
};
