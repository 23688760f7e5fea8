//! All page texts, in English and Chinese. Words from HBase's data model stay as they are in the
//! Chinese documentation: region, memstore, HFile.

/// A text in both languages.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) en: &'static str,
    pub(super) zh: &'static str,
}

macro_rules! texts {
    ($($name:ident: $en:literal, $zh:literal;)*) => {
        $(pub(super) const $name: Text = Text { en: $en, zh: $zh };)*
        #[cfg(test)]
        const ALL: &[(&str, Text)] = &[$((stringify!($name), $name)),*];
    };
}

texts! {
    // Navigation and frame.
    NAVIGATION: "Pages", "页面";
    SKIP: "Skip to the content", "跳到正文";
    OVERVIEW: "Overview", "概览";
    TABLES: "Tables", "表";
    SERVERS: "Servers", "服务器";
    QUERY: "Query", "查询";
    CALLS: "Slow calls", "慢调用";
    TASKS: "Tasks", "任务";
    SETTINGS: "Settings", "设置";
    HEALTHY: "writes are taken", "可写";
    NO_WRITES: "no writes are taken", "不可写";
    NOT_FOUND: "Not found", "未找到";
    NOT_FOUND_MORE: "There is no page at this address.", "此地址没有页面。";
    BUSY: "Busy", "繁忙";
    NO_SUCH_TABLE: "No such table", "没有这张表";
    BAD_REQUEST: "The request is not valid", "请求无效";
    UNSUPPORTED: "Not supported", "不支持";
    FAILED: "The request failed", "请求失败";
    BUSY_MORE: "Too many of these requests are running. Try again in a moment.", "同类请求过多，请稍后再试。";

    LOGIN: "Log in", "登录";
    TOKEN: "Token", "令牌";
    ENTER: "Log in", "登录";
    TOKEN_REFUSED: "The token is not accepted: it is wrong, has ended or was revoked.", "令牌无效：错误、已过期或已吊销。";
    LOGIN_MORE: "A token proves the user. The value of HADOOP_TOKEN is one; to make it, run on the server:", "令牌用于证明用户身份，即 HADOOP_TOKEN 的值。在服务器上生成：";

    // Everywhere.
    NONE: "none", "无";
    NOT_SHOWN: "Not shown:", "未显示：";
    STATE: "State", "状态";
    SERVER: "Server", "服务器";
    BEGAN: "Began", "开始时间";
    AT_MOST: "of at most", "上限";
    ON: "on", "开";
    OFF: "off", "关";
    NO_LIMIT: "no limit", "不限";
    NEVER: "never", "从不";
    COLON: ": ", "：";
    COMMA: ", ", "，";
    END: ".", "。";

    // Tables.
    TABLE: "Table", "表";
    NO_TABLES: "There are no tables yet.", "还没有表。";
    TEMPLATE: "Row-key template", "行键模板";
    COMPUTED: "computed", "计算得出";
    ORDERED: "ordered", "有序";
    ORDERED_AS_STORED: "ordered as stored", "按存储的字节有序";
    UNORDERED: "unordered", "无序";
    COLUMNS: "Columns", "列";
    INDEX: "Index", "索引";
    INDEXES: "Indexes", "索引";
    INDEX_OF: "index of", "索引，属于表";
    DECLARATION: "Declaration", "声明";
    FAMILY: "Family", "列族";
    FAMILIES: "Families", "列族";
    ATTRIBUTES: "Attributes", "属性";
    REGION: "Region", "region";
    REGIONS: "Regions", "region";
    FILES: "HFiles", "HFile 数";
    FILE_BYTES: "On disk", "磁盘占用";
    MEMSTORE_BYTES: "In memory", "内存占用";
    IN_FILES: "in HFiles", "在 HFile 中";
    IN_MEMORY: "in memstores", "在 memstore 中";
    READS: "Rows read", "读取行数";
    WRITES: "Mutations", "写入次数";
    ENABLED: "enabled", "已启用";
    DISABLED: "disabled", "已停用";
    START: "From", "起始";
    STOP: "To before", "终止（不含）";
    FIRST_KEY: "the first", "最小键";
    LAST_KEY: "the end", "末尾";
    NOT_IN_SERVICE: "not in service", "未上线";
    MAJOR_COMPACTION: "Last major compaction", "上次 major compaction";

    // Servers.
    MASTER: "Master", "master";
    BALANCER: "Balancer", "负载均衡";
    SPLITS: "Splits", "分裂";
    MERGES: "Merges", "合并";
    STARTED: "Started", "启动时间";
    CALLS_PER_SECOND: "Calls per second", "每秒调用";
    CALLS_TOTAL: "Calls", "调用总数";
    LOAD: "Requests per second", "每秒请求";
    LOAD_MORE: "Requests per second are rows read and mutations of the regions, averaged over a minute.", "每秒请求是各 region 的读取行数与写入次数，取一分钟平均值。";
    OPEN_SCANNERS: "Open scanners", "打开的扫描器";
    WAITING_CALLS: "Calls that wait for the limit", "因限流等待的调用";
    CAP_WAIT: "Waited for the limit", "限流等待时间";
    LIVE: "live", "在线";
    DECOMMISSIONED: "decommissioned", "已退役";
    STOPPED_SERVERS: "Stopped servers", "已停止的服务器";
    MEMORY: "Memory", "内存";
    MEMSTORES: "Memstores", "memstore";
    READER_MEMSTORES: "Flushed memstores that readers hold", "读取者持有的已刷写 memstore";
    INDEX_MEMORY: "Indexes in memory", "内存索引";
    BLOCK_CACHE: "Block cache", "块缓存";

    // Query.
    RUN: "Run", "执行";
    QUERY_MORE: "Without a query the first rows are shown. Times without a zone are UTC. A query ends after 2 seconds or 50 rows.", "不填查询则显示开头的行。未注明时区的时间为 UTC。查询在 2 秒或 50 行后结束。";
    PLAN: "Plan", "执行计划";
    ROW: "Row", "行";
    ROWS: "Rows", "行";
    COUNTED_ROW: "row", "行";
    COUNTED_ROWS: "rows", "行";
    CELLS: "Cells", "单元格";
    ALL_ROWS: "and no more", "已全部显示";
    MORE_ROWS: "and there are more", "还有更多";
    OUT_OF_TIME: "then the time was over: there may be more", "时间已到，可能还有更多";

    // Overview.
    LAST_HOUR_OF: "The last hour, one value every", "最近一小时，采样间隔";
    LATENCY: "Latency", "延迟";
    CPU_CORES: "CPU cores", "CPU 核数";
    PROCESS: "process", "进程";
    HIT_RATE: "Block cache hits", "块缓存命中率";
    DISK: "On disk", "磁盘占用";
    AVAILABLE: "available", "可用";
    LOG: "Log", "日志";
    COMPACTION_DUE: "Compaction due", "待 compaction";
    CALLS_BY_METHOD: "Calls of the last five minutes", "最近五分钟的调用";
    NO_CALLS: "No calls were measured yet.", "尚无测量到的调用。";
    ERRORS: "Errors", "错误";
    SLOWEST_CALLS: "Slowest calls", "最慢的调用";
    ALL_CALLS: "all", "全部";
    ALL_TASKS: "all", "全部";
    LOAD_COURSE: "Last hour", "最近一小时";

    // Heat.
    HEAT: "Heat", "热度";
    BYTES: "Bytes read and written", "读写字节";
    SHOWN: "Shown", "显示";
    SHOW: "Show", "显示";
    TIME: "Time", "时间";
    ALL_MEASURED: "all that was measured", "全部测量值";
    LAST_HOUR: "last hour", "最近一小时";
    LAST_6_HOURS: "last 6 hours", "最近六小时";
    LAST_DAY: "last day", "最近一天";
    LAST_WEEK: "last week", "最近一周";
    SAMPLED: "Not all requests were recorded: the numbers are right on average.", "只记录了部分请求：数值为平均意义上的估计。";
    NO_HEAT: "There were no requests in this time.", "此时间段内没有请求。";
    IN_ONE_FIELD: "in one field of the map", "图中每一格";
    HEAT_FAILED: "The data could not be read:", "无法读取数据：";
    HEAT_KEYS: "Time goes from left to right, keys from top to bottom. Drag over a part to zoom in, double-click to see all. On the keyboard: arrows go to the next range, with Shift to the time before or after; + and - zoom, 0 shows all.", "时间从左到右，键从上到下。拖动选择一块以放大，双击恢复全部。键盘：方向键移到相邻区间，同时按 Shift 则移到前后的时间；+ 和 - 缩放，0 显示全部。";
    VERDICT: "Where the load is, and why", "负载在哪里，为什么";
    HOTTEST: "The hottest ranges", "最热的区间";
    HOT_ROWS: "Hot rows", "热点行";
    HOT_ROWS_MORE: "The rows with the most requests in the last 5 to 10 minutes, if most of their count is certain.", "最近五到十分钟内请求最多的行；计数大部分不确定的行不列出。";
    BRIGHTNESS: "Brightness", "亮度";
    REFRESHED: "Refreshed", "自动刷新";
    HALF_MINUTE: "every 30 seconds", "每三十秒";
    MINUTE: "every minute", "每分钟";
    FIVE_MINUTES: "every 5 minutes", "每五分钟";
    CALLS_HERE: "Slow calls in this part of the map", "图中这一部分的慢调用";
    HEAT_HERE: "Heat around this call", "这次调用前后的热度";
    ALL_HEAT_MORE: "Requests to each table, reads and writes together: time from left to right in UTC, and the highest load of all tables has the strongest colour, on a logarithmic scale. A table leads to its keys.", "各表的请求，读写合计：时间从左到右（UTC），所有表中最高的负载颜色最深，对数刻度。点击表名查看其行键。";
    REQUESTS: "Requests", "请求";
    CALLS_OF: "Only calls of this part:", "仅显示这一部分的调用：";
    ALL_CALLS_AGAIN: "show all calls", "显示全部调用";
    LOAD_BY_SERVER: "Share of the load on each region server", "各 region 服务器承担的负载";
    TOO_HIGH_BY: "Too high by at most", "至多偏高";

    WHAT_INSTEAD: "Which key instead? Designs for this table", "该用什么行键？这张表的设计";

    // Designs.
    DESIGN: "Design", "设计";
    DESIGN_MORE: "Describe rows, rates and questions; the page proposes keys and indexes, and estimates what they cost. No table is written.", "描述行、速率和查询；页面提出行键和索引，并估算其代价。不会写入任何表。";
    WORKLOAD: "Workload", "工作负载";
    PROPOSE: "Propose designs", "给出设计";
    ADD_QUESTIONS: "Add the questions, which no server records:", "请补充查询，服务器不记录查询：";
    DESIGN_TIMEOUT: "The time for the search is over. Try it with fewer questions, or with rowhouse advise, which has no such limit.", "搜索超时。请减少查询，或使用没有此限制的 rowhouse advise。";
    DESIGN_ESTIMATED: "All numbers are estimates for the full size, from rows:", "所有数值均为对实际规模的估算，依据的行数：";
    DESIGN_SIMULATE: "They are not simulated: for that there is", "未经模拟；模拟请用";
    DESIGN_SIMULATED: "Simulated in a temporary store, and taken to the full size, with rows:", "在临时存储中模拟并换算到实际规模，所用行数：";
    ONLY_ESTIMATED: "Designs with * were only estimated, and come after those that were simulated.", "带 * 的设计仅为估算，排在模拟过的设计之后。";
    SIMULATE_BEST: "Simulate the best designs", "模拟最好的设计";
    SIMULATE_MORE: "Writes the rows to a temporary store under each of them and asks the questions. It takes seconds.", "按每个设计把行写入临时存储并执行查询，需要数秒。";
    ESTIMATING: "Designs are being estimated", "正在估算设计";
    SIMULATING: "Designs are being simulated", "正在模拟设计";
    SIMULATION_CUT: "The time was over before all designs that may be the best were simulated. rowhouse advise has no such limit.", "时间已到，尚有可能更好的设计未经模拟。rowhouse advise 没有此限制。";
    SIMULATION_GONE: "This simulation is no longer there: another one was started, or the server was.", "此模拟已不存在：之后启动了另一次模拟，或服务器已重启。";
    BEST_SIMULATED: "Best of those that were simulated", "模拟过的设计中最好的";
    WORKLOAD_FILE: "Workload from a file", "从文件读取工作负载";
    READ_FILE: "Read the file", "读取文件";
    DESIGN_CHART: "Designs by the cost of reads and of writes, in rows per second on logarithmic scales. Bottom left is best.", "各设计的读代价与写代价，单位为每秒行数，对数刻度。左下最好。";
    BEST_DESIGN: "Best by the estimates", "估算中最好的";
    PRESENT_IS_BEST: "Nothing beats the present design by a tenth", "没有设计比当前设计好一成";
    ALL_REFUSED: "Every design breaks a limit; the best one", "每个设计都违反限制；其中最好的";
    PRESENT: "present", "当前";
    READ_COST: "Reads, rows per second", "读，每秒行数";
    WRITE_COST: "Writes, rows per second", "写，每秒行数";
    SCORE: "Score", "得分";
    BUSIEST_REGION: "Busiest region", "最忙的 region";
    SCORE_MORE: "Reads count each row, and ten rows for each range; writes count ten for each row and index entry, times the share of the busiest region as far as it exceeds one part of the servers. The score is both; the least is best.", "读：每行计一，每个范围计十行；写：每行和每个索引条目计十，若最忙的 region 的份额超过服务器的平均份额，则按倍数增加。得分为两者之和，越小越好。";
    READ_BY: "Read by", "读取方式";
    THE_KEY: "the key", "行键";
    RANGES: "Ranges", "范围数";
    SAMPLE_KEYS: "Keys of the first rows", "开头几行的行键";
    CHANGE_STEPS: "From the present design, in the shell", "在 shell 中从当前设计迁移";
    SEQUENTIAL: "sequential", "顺序";
    SALTED: "salted", "加盐";
    PROMOTED: "promoted", "字段提升";
    BUCKETED: "bucketed", "分桶";
    REVERSED: "reversed", "反转";
    HASHED: "random", "散列";

    // Slow calls.
    SLOW_CALLS_ARE: "Calls are kept that took longer than", "保留的调用：耗时超过";
    LARGE_CALLS_ARE: "or whose answer was larger than", "或应答大于";
    KIND: "Kind", "类别";
    SLOW: "slow", "慢";
    LARGE: "large", "大";
    SLOW_AND_LARGE: "slow, large", "慢且大";
    METHOD: "Method", "方法";
    TOOK: "Took", "耗时";
    WAITED: "Waited", "排队";
    ANSWER: "Answer", "应答大小";
    CLIENT: "Client", "客户端";

    // Tasks.
    TASK: "Task", "任务";
    NO_TASKS: "No task is running.", "没有正在运行的任务。";
    PROGRESS: "Amount or progress", "数量或进度";
    RUNNING_FOR: "Running for", "已运行";
    BACKUP_RUNNING: "A backup is being written.", "正在写备份。";
    INDEXES_NOT_READY: "Indexes that are not ready", "未就绪的索引";
    READY: "ready", "就绪";
    BUILDING: "being built", "构建中";
    UP_TO: "up to", "已到";
    REPAIRING: "being repaired", "修复中";

    // Settings.
    STORE: "Store", "存储";
    COMPACTIONS: "Compactions", "compaction";
    LIMITS: "Limits that cannot be set", "固定的限制";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_both_languages_and_their_punctuation() {
        let is_chinese = |text: &str| text.chars().any(|it| ('\u{4e00}'..'\u{9fff}').contains(&it));
        // Words that Chinese HBase documentation leaves as they are, and punctuation.
        let words = ["region", "master", "memstore", "compaction", "：", "，", "。"];
        for (name, Text { en, zh }) in ALL {
            assert!(!en.is_empty() && en.is_ascii(), "{name}: {en}");
            assert!(is_chinese(zh) || words.contains(zh), "{name}: {zh}");
            assert!(!zh.contains([',', ';', ':', '.', '?', '!']), "{name}: {zh}");
            assert_eq!(en.trim_end().ends_with(':'), zh.ends_with('：'), "{name}: {zh}");
            assert!(name == &"COMMA" || en.ends_with('.') == zh.ends_with('。'), "{name}: {zh}");
        }
    }
}
