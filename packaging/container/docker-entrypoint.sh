#!/usr/bin/env bash
# Entry point of the image: creates the data directory if there is none, then runs the command.
#
# Environment variables, as in the official image of PostgreSQL; for those marked * the value may
# also be in a file that is named by NAME_FILE:
#   POSTGRES_PASSWORD *         password of the superuser; required unless the method is trust
#   POSTGRES_USER *             name of the superuser (postgres)
#   POSTGRES_DB *               database that is created (the name of the superuser)
#   POSTGRES_INITDB_ARGS *      more arguments of initdb
#   POSTGRES_INITDB_WALDIR      directory of the write-ahead log
#   POSTGRES_HOST_AUTH_METHOD   authentication method of connections from other machines
#   PGDATA                      the data directory
# Files in /docker-entrypoint-initdb.d are run in the order of their names after the creation:
# *.sh (executed, or sourced if not executable), *.sql, *.sql.gz, *.sql.xz, *.sql.zst.
set -Eeo pipefail

# Directories of scripts and of sockets. Tests of this file set others.
scripts=${DOCKER_ENTRYPOINT_SCRIPTS:-/docker-entrypoint-initdb.d}
sockets=${DOCKER_ENTRYPOINT_SOCKETS:-/var/run/postgresql}

note() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
fail() { note "error: $*" >&2; exit 1; }

# read_variable NAME [DEFAULT]: the value of NAME, of the file NAME_FILE, or the default.
read_variable() {
    local name=$1 file=$1_FILE value=${2:-}
    if [ -n "${!name:-}" ] && [ -n "${!file:-}" ]; then
        fail "both $name and $file are set, but only one of them can be used"
    fi
    if [ -n "${!name:-}" ]; then
        value=${!name}
    elif [ -n "${!file:-}" ]; then
        [ -r "${!file}" ] || fail "cannot read ${!file}, which $file names"
        value=$(<"${!file}")
    fi
    export "$name=$value"
    unset "$file"
}

read_environment() {
    read_variable POSTGRES_PASSWORD
    read_variable POSTGRES_USER postgres
    read_variable POSTGRES_DB "$POSTGRES_USER"
    read_variable POSTGRES_INITDB_ARGS
    : "${PGDATA:=/var/lib/postgresql/data}"
    export PGDATA
}

# Directories that the server needs. As root, they are given to the server's user.
create_directories() {
    mkdir -p "$PGDATA"
    chmod 00700 "$PGDATA" 2>/dev/null || true
    mkdir -p "$sockets" 2>/dev/null || true
    chmod 03777 "$sockets" 2>/dev/null || true
    [ -z "${POSTGRES_INITDB_WALDIR:-}" ] || mkdir -p "$POSTGRES_INITDB_WALDIR"
    [ "$(id -u)" = 0 ] || return 0
    local directory
    for directory in "$PGDATA" ${POSTGRES_INITDB_WALDIR:+"$POSTGRES_INITDB_WALDIR"}; do
        find "$directory" \! -user postgres -exec chown postgres '{}' +
    done
}

check_password() {
    if [ "${POSTGRES_HOST_AUTH_METHOD:-}" = trust ]; then
        note "warning: POSTGRES_HOST_AUTH_METHOD is \"trust\": everyone who reaches the port can" \
            "connect as any role, without a password" >&2
    elif [ -z "$POSTGRES_PASSWORD" ]; then
        fail "the superuser has no password: set POSTGRES_PASSWORD to one" \
            "(or POSTGRES_HOST_AUTH_METHOD to trust, if no client needs a password)"
    fi
}

create_cluster() {
    local password
    password=$(mktemp)
    printf '%s\n' "$POSTGRES_PASSWORD" >"$password"
    local options=(--username="$POSTGRES_USER")
    [ -z "$POSTGRES_PASSWORD" ] || options+=(--pwfile="$password")
    [ -z "${POSTGRES_INITDB_WALDIR:-}" ] || options+=(--waldir="$POSTGRES_INITDB_WALDIR")
    # The arguments are words of a shell command, which may be quoted.
    eval "initdb \"\${options[@]}\" $POSTGRES_INITDB_ARGS"
    rm -f "$password"
    # In a container, clients come from other machines.
    printf "\nlisten_addresses = '*'\nunix_socket_directories = '%s'\n" "$sockets" \
        >>"$PGDATA/postgresql.conf"
}

allow_hosts() {
    : "${POSTGRES_HOST_AUTH_METHOD:=$(postgres -C password_encryption "$@")}"
    printf '\nhost all all all %s\n' "$POSTGRES_HOST_AUTH_METHOD" >>"$PGDATA/pg_hba.conf"
}

# Runs psql on the server that is started for the scripts. Scripts may use it.
docker_process_sql() {
    local options=(-v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --no-password --no-psqlrc)
    [ -z "$POSTGRES_DB" ] || options+=(--dbname "$POSTGRES_DB")
    PGHOST=$sockets PGHOSTADDR='' psql "${options[@]}" "$@"
}

# The server for the scripts accepts no connections from other machines.
start_for_scripts() {
    [ "${1:-}" != postgres ] || shift
    NOTIFY_SOCKET='' PGUSER="${PGUSER:-$POSTGRES_USER}" pg_ctl -D "$PGDATA" -w start \
        -o "-c listen_addresses='' -p ${PGPORT:-5432} $(printf '%q ' "$@")"
}

stop_after_scripts() {
    PGUSER="${PGUSER:-$POSTGRES_USER}" pg_ctl -D "$PGDATA" -m fast -w stop
}

create_database() {
    local known
    known=$(POSTGRES_DB='' docker_process_sql --dbname postgres --set db="$POSTGRES_DB" --tuples-only \
        <<<'SELECT 1 FROM pg_database WHERE datname = :'"'db'")
    [ -n "$known" ] || POSTGRES_DB='' docker_process_sql --dbname postgres --set db="$POSTGRES_DB" \
        <<<'CREATE DATABASE :"db"'
}

run_scripts() {
    local file
    for file in "$scripts"/*; do
        case $file in
        *.sh)
            note "running $file"
            # shellcheck disable=SC1090
            if [ -x "$file" ]; then "$file"; else . "$file"; fi
            ;;
        *.sql) note "running $file"; docker_process_sql -f "$file" ;;
        *.sql.gz) note "running $file"; gunzip -c "$file" | docker_process_sql ;;
        *.sql.xz) note "running $file"; xz -dc "$file" | docker_process_sql ;;
        *.sql.zst) note "running $file"; zstd -dc "$file" | docker_process_sql ;;
        "$scripts/*") ;;
        *) note "ignoring $file" ;;
        esac
    done
}

# True if one of the arguments makes the server exit at once.
only_shows_something() {
    local argument
    for argument; do
        case $argument in
        -'?' | --help | --describe-config | -V | --version) return 0 ;;
        esac
    done
    return 1
}

main() {
    # Arguments alone are those of the server.
    [ "${1:0:1}" != - ] || set -- postgres "$@"
    if [ "$1" = postgres ] && ! only_shows_something "$@"; then
        read_environment
        create_directories
        if [ "$(id -u)" = 0 ]; then
            exec setpriv --reuid postgres --regid postgres --init-groups "${BASH_SOURCE[0]}" "$@"
        fi
        if [ -s "$PGDATA/PG_VERSION" ]; then
            note "the data directory exists, and is used as it is"
        else
            check_password
            # An error of a mounted directory is to be seen before anything is created.
            ls "$scripts" >/dev/null 2>&1 || [ ! -e "$scripts" ] || fail "cannot read $scripts"
            create_cluster
            allow_hosts "${@:2}"
            # Scripts connect with the password, if one is asked for.
            export PGPASSWORD="${PGPASSWORD:-$POSTGRES_PASSWORD}"
            start_for_scripts "$@"
            create_database
            # Scripts for the official image may use this variable.
            # shellcheck disable=SC2034
            psql=(psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --no-password
                --dbname "$POSTGRES_DB")
            run_scripts
            stop_after_scripts
            unset PGPASSWORD
            note "the data directory is ready; starting the server"
        fi
    fi
    exec "$@"
}

# Scripts may source this file for its functions.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then main "$@"; fi
