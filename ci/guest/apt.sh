# apt with folders of its own, to be sourced: it changes nothing of this machine, and needs no
# rights.

suite=trixie

# own_apt FOLDER COMMAND...
own_apt() {
    local folder=$1 command=$2
    shift 2
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    mkdir -p "$folder"/{lists/partial,archives/partial}
    : >>"$folder/status"
    printf 'deb [signed-by=%s] http://deb.debian.org/debian %s main\n' \
        "$keys" "$suite" "$keys" "$suite-backports" >"$folder/sources.list"
    "$command" -qq -o "Dir::State::lists=$folder/lists" -o "Dir::State::status=$folder/status" \
        -o "Dir::Cache=$folder" -o "Dir::Cache::archives=$folder/archives" \
        -o "Dir::Etc::sourcelist=$folder/sources.list" -o "Dir::Etc::sourceparts=$folder/none" \
        -o APT::Sandbox::User= -o Debug::NoLocking=1 -o APT::Architecture=amd64 \
        -o APT::Install-Recommends=0 -o Acquire::Languages=none "$@"
}
