# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Completion for bash. The options are those that the installed logdisk prints, so this file never lags behind it.

_logdisk() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    [ "$word" = = ] && word=
    [ "$before" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]}
    COMPREPLY=()
    case $before in
    -d | --dir | --tables)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        ;;
    -c | --csvFile | --trace | --progress | --checkAcknowledged)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        ;;
    --workload) mapfile -t COMPREPLY < <(compgen -W 'mq-log commit streams' -- "$word") ;;
    --sync) mapfile -t COMPREPLY < <(compgen -W 'dsync sync fdatasync fsync none' -- "$word") ;;
    --direct) mapfile -t COMPREPLY < <(compgen -W 'yes no' -- "$word") ;;
    *)
        local options
        options=$("${COMP_WORDS[0]}" --help 2>/dev/null |
            sed -nE 's/^  (-., |    )(--[A-Za-z]+)(\[?=.*)?( .*)?$/\2\3/p' | sed -E 's/\[=.*//; s/=.*/=/; s/ .*//')
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
        ;;
    esac
}
complete -F _logdisk logdisk
