package org.apache.hadoop.hbase.rest;

import org.apache.hadoop.conf.Configuration;
import rowhouse.ServedCluster;

/** HBase's utility of the same name, with the gateway of the rowhouse server where that starts one inside the JVM. */
public class HBaseRESTTestingUtility {
  private int port;

  public int getServletPort() {
    return port;
  }

  public void startServletContainer(Configuration conf) {
    // Some tests call the classes of the gateway, which have a configuration and connections of their own.
    port = conf.getInt(ServedCluster.REST_PORT, 0);
    if (port == 0) throw new IllegalStateException("the server has no port for REST");
  }

  public void shutdownServletContainer() {}
}
