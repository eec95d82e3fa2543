# complete.zsh FOLDER TEXT... - what a zsh on a terminal, which finds the
# completion in FOLDER, makes of each TEXT and a tab: the words that the
# program would have been given.
zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell "fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -D -u"
zpty -w shell "wf-console() { print -r -- \"<\$*>\" }; print '<'ready'>'"
zpty -r shell line '*<ready>*'
for text in "${@:2}"; do
    zpty -w shell "$text"$'\t'
    zpty -r shell line '*<*>*'
    print -r -- "${${line##*<}%%>*}"
done
zpty -d shell
