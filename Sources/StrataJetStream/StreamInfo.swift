/// The state of a stream, as its leader reports it.
struct StreamInfo: Decodable, Sendable {
    struct State: Decodable, Sendable {
        /// The first number that is kept; the one after the last if there is none, or 0 before the first entry.
        var first: UInt64
        var last: UInt64

        enum CodingKeys: String, CodingKey {
            case first = "first_seq"
            case last = "last_seq"
        }
    }

    struct Cluster: Decodable, Sendable {
        struct Replica: Decodable, Sendable {
            /// The time since the leader heard from this server, in nanoseconds.
            var active: Int64?
            var offline: Bool?
        }

        var leader: String?
        var replicas: [Replica]?
    }

    var config: StreamSettings
    var state: State
    var cluster: Cluster?

    /// A server that leads hears from the others each second, and none of them elects another within 4 seconds after
    /// it heard from the leader.
    private static let leaseNanoseconds: Int64 = 3_000_000_000

    /// True if the server that answers heard from a majority so recently that no other can lead.
    var isFromLeader: Bool {
        let count = config.replicas ?? 1
        if count <= 1 { return true }
        guard let cluster, let leader = cluster.leader, !leader.isEmpty else { return false }
        let heard = (cluster.replicas ?? []).filter { replica in
            replica.offline != true && (replica.active ?? .max) < Self.leaseNanoseconds
        }
        return heard.count + 1 > count / 2
    }
}
