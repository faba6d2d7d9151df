import CloudKit
import ExampleArguments

let usage = """
    usage: three-servers FOLDER [ADDRESS]

    Three server processes that write one store, and clients that ask any of them, while servers are killed.
    ADDRESS is where the servers' changes get their order: nats://HOST:PORT/STREAM,
    postgres://HOST/DATABASE, or a directory; by default a directory in FOLDER.
    """

/// The number of requests of each user.
let requests = 100
let users = ["anna", "ben", "cleo", "dora"]

// A server is this program once more, with its number.
if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "serve" {
    let (folder, address, number) = (CommandLine.arguments[2], CommandLine.arguments[3], CommandLine.arguments[4])
    let url = URL(fileURLWithPath: "\(folder)/server\(number).strata")
    do { try await Server(store: CloudStore(at: url, log: place(address))).run() } catch {
        ExampleArguments.end("server \(number): \(error)", code: 1)
    }
    exit(0)
}

let arguments = ExampleArguments.read(usage: usage, counts: 1...2)
let folder = arguments[0]
let address = arguments.count == 2 ? arguments[1] : "\(folder)/order"
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
// A server that was killed cannot be written to.
signal(SIGPIPE, SIG_IGN)

// A fourth copy, which only reads.
let store = try CloudStore(at: URL(fileURLWithPath: "\(folder)/reader.strata"), log: place(address))

/// Returns the value of each user's counter.
func values() async throws -> [Int64] {
    try await store.confirm()
    var values: [Int64] = []
    for user in users {
        let id = CKRecord.ID(recordName: "counter", zoneID: CKRecordZone.ID(zoneName: "Counters"))
        let counter = try? await store.container(user: user).privateCloudDatabase.record(for: id)
        values.append(counter?["value"] as Int64? ?? 0)
    }
    return values
}

let before = try await values()
let balancer = Balancer(serverArguments: ["serve", folder, address])
for number in 1...3 { try await balancer.start(number) }

let killing = Task {
    var kills = 0
    while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(500))
        guard !Task.isCancelled, let server = await balancer.killOne() else { continue }
        kills += 1
        print("killed server \(server)")
    }
    return kills
}
try await withThrowingTaskGroup(of: Void.self) { group in
    for user in users {
        // Each user has several requests on their way at any time.
        for _ in 0..<4 {
            group.addTask { for _ in 0..<requests / 4 { try await balancer.count(for: user) } }
        }
    }
    try await group.waitForAll()
}
killing.cancel()
let kills = await killing.value
await balancer.stop()

let counted = zip(try await values(), before).map { $0 - $1 }
for (user, count) in zip(users, counted) { print("\(user): \(count) of \(requests)") }
print("\(kills) servers were killed, \(await balancer.repeats) requests were sent again")
try store.close()
if counted.contains(where: { $0 != Int64(requests) }) {
    ExampleArguments.end("a request was lost, or counted twice", code: 1)
}
