# shellcheck shell=bash
# http.sh - a private nginx that answers as a test says.

# nginx_start RULES [NAME]: RULES is what stands in `server { }`, the echo
# module's directives (`echo_sleep 0.5;`) among it. Exports HTTP_PORT and
# HTTP_URL, which is at HTTP_HOST if that is set. HTTP_SSL=ssl: with TLS, whose
# certificate RULES name. Requests are logged in
# $WORK/NAME/access.log: method, address, status, Idempotency-Key, traceparent.
nginx_start() {
    local rules=$1 name=${2:-nginx} dir attempt
    dir=$(server_dir "$name")
    for attempt in 1 2 3 4 5; do
        HTTP_PORT=$(free_port)
        nginx_configure "$rules" "$dir"
        spawn_server "$name" nginx -p "$dir/" -c "$dir/nginx.conf" \
            -e "$dir/error.log"
        HTTP_URL=http://${HTTP_HOST:-127.0.0.1}:$HTTP_PORT
        export HTTP_PORT HTTP_URL
        if wait_until 5 test -s "$dir/nginx.pid"; then
            return
        fi
        stop "$name" || true
        diag "nginx did not start on port $HTTP_PORT, attempt $attempt" >&2
    done
    return 1
}

# nginx_change RULES [NAME]: other rules for a running one.
nginx_change() {
    local name=${2:-nginx} dir
    dir=$WORK/$name
    nginx_configure "$1" "$dir"
    as_server nginx -p "$dir/" -c "$dir/nginx.conf" -e "$dir/error.log" \
        -s reload
}

nginx_configure() {
    cat >"$2/nginx.conf" <<END
load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;
daemon off;
pid $2/nginx.pid;
worker_processes 1;
events { worker_connections 1024; }
http {
    include /etc/nginx/mime.types;
    log_format wf '\$request_method \$request_uri \$status \$http_idempotency_key \$http_traceparent';
    log_format heard escape=none '\$uri|\$http_authorization|\$http_x_key|\$http_x_fixed|\$request_body';
    access_log $2/access.log wf;
    client_body_temp_path $2/body;
    proxy_temp_path $2/proxy;
    fastcgi_temp_path $2/fastcgi;
    uwsgi_temp_path $2/uwsgi;
    scgi_temp_path $2/scgi;
    keepalive_requests 100000;
    server {
        listen ${HTTP_HOST:-127.0.0.1}:$HTTP_PORT ${HTTP_SSL:-};
        root $2;
$1
    }
}
END
}
