import StrataLog
import StrataModel
import StrataStore
import StrataViews

/// `strata users`: the users who have written to a store, with their devices.
enum UsersCommand: Command {
    static let name = "users"
    static let summary = "list the users of a store, with their devices and accounts"
    static let details =
        "Prints each user who has written to the store or was declared: the account, what is known of the person, the "
        + "used part of the quota, the zones of the "
        + "private database and the last commit that changed it, and the devices, each with its first commit and how "
        + "far it was notified of changes. Users who only read are not recorded. It can run while another program "
        + "writes to the store."
    static let options: [any OptionDescription] = [Option.at, Option.json]
    static let examples = [
        "strata users Notes.strata", "strata users Notes.strata --json | jq '[.user, .usedBytes]'",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StateAccess.read(arguments, by: name, output) { access in
            let state = ContainerState(access.store)
            let log = try access.log()
            var count = 0
            try state.forEachUser { ordinal, name in
                count += 1
                let user = try UserDetail(ordinal, name, in: state, log)
                if arguments[Option.json] { try output.writeJSON(user) } else { try user.write(to: output) }
            }
            if !arguments[Option.json] { try output.writeLine(count.counted("user")) }
            return .success
        }
    }
}

/// The details of a user.
struct UserDetail {
    struct Device {
        let ordinal: UInt64
        let name: String
        /// The offset of the device's first appearance; nil if it was only named.
        let firstSeen: UInt64?
        /// The offset up to which it was notified of changes, and its badge number; nil if it never was.
        let delivery: (through: UInt64, badge: UInt64)?
    }

    private let ordinal: UInt64
    private let name: String
    private let recordName: String
    private let account: Account
    private var usedBytes: UInt64 = 0
    private var zoneCount: UInt64 = 0
    private var recordCount: UInt64 = 0
    private var lastChange: UInt64 = 0
    private var lastChangeTime: Int64?
    private var devices: [Device] = []

    init(_ ordinal: UInt64, _ name: String, in state: ContainerState, _ log: LogReader) throws {
        (self.ordinal, self.name) = (ordinal, name)
        recordName = try state.snapshot.recordName(of: name)
        account = try state.trees.account(of: ordinal)
        if let database = try state.database(.private, of: name) {
            for zone in try state.zones(of: database) {
                lastChange = max(lastChange, zone.row.lastChanged)
                guard zone.row.status == .alive else { continue }
                zoneCount += 1
                recordCount += zone.row.recordCount
                usedBytes += zone.row.usedBytes
            }
        }
        if lastChange > 0 { lastChangeTime = try log.timeIfKept(of: lastChange) }
        var found: [Device] = []
        try state.trees.forEachDevice(of: ordinal) { device in
            let delivery = try state.trees.delivery(to: device).map { (through: $0.through, badge: $0.badge) }
            found.append(
                Device(
                    ordinal: device, name: try state.device(device),
                    firstSeen: try state.trees.firstSight(of: device)?.offset, delivery: delivery))
            return true
        }
        devices = found
    }

    // MARK: For people

    func write(to output: Output) throws {
        let quota = account.quota == 0 ? "no quota" : "quota \(account.quota)"
        var lines = [("record", recordName), ("account", account.status.name)]
        lines += account.person.lines
        lines.append(("in use", "\(usedBytes.counted("byte")), \(quota)"))
        lines.append(("private", privateText))
        for device in devices { lines.append(("device", Self.text(of: device))) }
        try Columns.write("user", name, lines, to: output)
    }

    private var privateText: String {
        var text = "\(zoneCount.counted("zone")), "
        text += "\(recordCount.counted("record"))"
        guard lastChange > 0 else { return text }
        text += "; changed by commit \(lastChange)"
        return text + (lastChangeTime.map { ", \(Timestamp(microseconds: $0))" } ?? "")
    }

    private static func text(of device: Device) -> String {
        var text = Printable.escaped(device.name)
        if let firstSeen = device.firstSeen { text += ", since commit \(firstSeen)" }
        if let delivery = device.delivery {
            text += ", notified up to \(delivery.through)"
            if delivery.badge > 0 { text += ", badge \(delivery.badge)" }
        }
        return text
    }
}

extension UserDetail: Shaped {
    static let shape = Shape<Self>("A user") {
        Key("user", "name") { $0.name }
        Key("ordinal", "its ordinal") { $0.ordinal }
        Key("record", "name of the user's record") { $0.recordName }
        Key(
            "status",
            "of the account: `available`, `restricted`, `no account`, `temporarily unavailable` or "
                + "`could not determine`"
        ) { $0.account.status.name }
        Key("quota", "bytes, 0 for none") { $0.account.quota }
        Key("usedBytes", "how many bytes count toward it") { $0.usedBytes }
        Key("privateZones", "how many zones the private database has") { $0.zoneCount }
        Key("privateRecords", "how many records they have") { $0.recordCount }
        Key("changed", "the last commit that changed a zone of it") { $0.lastChange > 0 ? $0.lastChange : nil }
        Key("changedTime", "its time, or null if it was compacted") { $0.lastChangeTime }
        Key("devices", "the user's devices", each: device) { $0.devices }
        Key(of: Person.shape) { $0.account.person }
    }

    private static let device = Shape<Device>("A device") {
        Key("device", "name") { $0.name }
        Key("ordinal", "its ordinal") { $0.ordinal }
        Key("firstSeen", "the commit that introduced it") { $0.firstSeen }
        Key("through", "the offset up to which it was notified", if: "if it ever was") { $0.delivery?.through }
        Key("badge", "the number on its badge", if: "if it ever was") { $0.delivery?.badge }
    }
}
