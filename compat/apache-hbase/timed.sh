# Sourced by the scripts that measure Apache's gateways, after `begin` of steps.sh: free ports for Apache HBase, and its start.
export APACHE_DATA="$work/apache" APACHE_ZOOKEEPER_PORT APACHE_MASTER_PORT APACHE_REGIONSERVER_PORT
APACHE_ZOOKEEPER_PORT="$(free_port)" APACHE_MASTER_PORT="$(free_port)" APACHE_REGIONSERVER_PORT="$(free_port)"

start_apache() { # prints how long it took
  local began
  began="$(date +%s.%N)"
  "$here/apache-hbase/start.sh"
  echo "Apache HBase: started in $(echo "$(date +%s.%N) $began" | awk '{ printf "%.1f", $1 - $2 }') s"
}
