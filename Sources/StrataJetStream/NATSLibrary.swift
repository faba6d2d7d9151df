import StrataConnections
import StrataSystem

/// The functions of libnats that a sequencer calls, with the types that the library's header declares.
///
/// Only functions of the core are used: JetStream's own have structures whose layout changes between releases.
package struct NATSLibrary: Sendable {
    /// The address where a function stores the object that it makes.
    typealias Result = UnsafeMutablePointer<OpaquePointer?>
    typealias Text = UnsafePointer<CChar>
    typealias Bytes = UnsafeRawPointer
    typealias SetFlag = @Sendable @convention(c) (OpaquePointer, Bool) -> Int32
    typealias SetNumber = @Sendable @convention(c) (OpaquePointer, Int32) -> Int32
    typealias SetTime = @Sendable @convention(c) (OpaquePointer, Int64) -> Int32
    typealias SetText = @Sendable @convention(c) (OpaquePointer, Text) -> Int32
    typealias SetTwoTexts = @Sendable @convention(c) (OpaquePointer, Text, Text?) -> Int32
    typealias Destroy = @Sendable @convention(c) (OpaquePointer?) -> Void
    typealias Delay = @Sendable @convention(c) (OpaquePointer?, Int32, UnsafeMutableRawPointer?) -> Int64

    let statusText: @Sendable @convention(c) (Int32) -> Text?
    let lastError: @Sendable @convention(c) (UnsafeMutablePointer<Int32>?) -> Text?

    let createOptions: @Sendable @convention(c) (Result) -> Int32
    let destroyOptions: Destroy
    let setServers: @Sendable @convention(c) (OpaquePointer, UnsafePointer<Text?>, Int32) -> Int32
    let setAccount: SetTwoTexts
    let setCredentials: SetTwoTexts
    let setSecure: SetFlag
    let setAuthority: SetText
    let setSendAsap: SetFlag
    let setFailRequests: SetFlag
    let setIgnoreDiscovered: SetFlag
    let setReconnects: SetNumber
    let setReconnectBuffer: SetNumber
    let setTimeout: SetTime
    let setPingInterval: SetTime
    let setPings: SetNumber
    let setDelay: @Sendable @convention(c) (OpaquePointer, Delay, UnsafeMutableRawPointer?) -> Int32

    let connect: @Sendable @convention(c) (Result, OpaquePointer) -> Int32
    let close: Destroy
    let destroyConnection: Destroy
    let status: @Sendable @convention(c) (OpaquePointer) -> Int32
    let maximumPayload: @Sendable @convention(c) (OpaquePointer) -> Int64
    let request: @Sendable @convention(c) (Result, OpaquePointer, OpaquePointer, Int64) -> Int32
    let publishMessage: @Sendable @convention(c) (OpaquePointer, OpaquePointer) -> Int32
    let subscribe: @Sendable @convention(c) (Result, OpaquePointer, Text) -> Int32
    let statistics: @Sendable @convention(c) (OpaquePointer, OpaquePointer) -> Int32
    let createStatistics: @Sendable @convention(c) (Result) -> Int32
    let destroyStatistics: Destroy
    let counts:
        @Sendable @convention(c) (
            OpaquePointer, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<UInt64>?,
            UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<UInt64>?
        ) -> Int32
    /// Returns true if the server's greeting had at least this version; nil where the library keeps it to itself.
    let serverIsAtLeast: (@Sendable @convention(c) (OpaquePointer, Int32, Int32, Int32) -> Bool)?

    let createMessage: @Sendable @convention(c) (Result, Text, Text?, Bytes?, Int32) -> Int32
    let destroyMessage: Destroy
    let messageBytes: @Sendable @convention(c) (OpaquePointer) -> Bytes?
    let messageByteCount: @Sendable @convention(c) (OpaquePointer) -> Int32
    let messageReply: @Sendable @convention(c) (OpaquePointer) -> Text?
    let setHeader: @Sendable @convention(c) (OpaquePointer, Text, Text) -> Int32
    let header: @Sendable @convention(c) (OpaquePointer, Text, UnsafeMutablePointer<Text?>) -> Int32

    let nextMessage: @Sendable @convention(c) (Result, OpaquePointer, Int64) -> Int32
    let setLimits: @Sendable @convention(c) (OpaquePointer, Int32, Int32) -> Int32
    let unsubscribe: @Sendable @convention(c) (OpaquePointer) -> Int32
    let destroySubscription: Destroy
    let createInbox: @Sendable @convention(c) (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    let destroyInbox: @Sendable @convention(c) (UnsafeMutablePointer<CChar>?) -> Void

    private static let loaded = Lock<NATSLibrary?>(nil)

    /// Returns the library, and loads it at the first call that finds it installed.
    package static func shared() throws -> NATSLibrary {
        try loaded.withLock { loaded in
            if let loaded { return loaded }
            let library = try NATSLibrary(DynamicLibrary("libnats.so.3.4", debianPackage: "libnats3.4"))
            loaded = library
            return library
        }
    }

    private init(_ library: DynamicLibrary) throws {
        statusText = try library.function("natsStatus_GetText")
        lastError = try library.function("nats_GetLastError")

        createOptions = try library.function("natsOptions_Create")
        destroyOptions = try library.function("natsOptions_Destroy")
        setServers = try library.function("natsOptions_SetServers")
        setAccount = try library.function("natsOptions_SetUserInfo")
        setCredentials = try library.function("natsOptions_SetUserCredentialsFromFiles")
        setSecure = try library.function("natsOptions_SetSecure")
        setAuthority = try library.function("natsOptions_LoadCATrustedCertificates")
        setSendAsap = try library.function("natsOptions_SetSendAsap")
        setFailRequests = try library.function("natsOptions_SetFailRequestsOnDisconnect")
        setIgnoreDiscovered = try library.function("natsOptions_SetIgnoreDiscoveredServers")
        setReconnects = try library.function("natsOptions_SetMaxReconnect")
        setReconnectBuffer = try library.function("natsOptions_SetReconnectBufSize")
        setTimeout = try library.function("natsOptions_SetTimeout")
        setPingInterval = try library.function("natsOptions_SetPingInterval")
        setPings = try library.function("natsOptions_SetMaxPingsOut")
        setDelay = try library.function("natsOptions_SetCustomReconnectDelay")

        connect = try library.function("natsConnection_Connect")
        close = try library.function("natsConnection_Close")
        destroyConnection = try library.function("natsConnection_Destroy")
        status = try library.function("natsConnection_Status")
        maximumPayload = try library.function("natsConnection_GetMaxPayload")
        request = try library.function("natsConnection_RequestMsg")
        publishMessage = try library.function("natsConnection_PublishMsg")
        subscribe = try library.function("natsConnection_SubscribeSync")
        statistics = try library.function("natsConnection_GetStats")
        createStatistics = try library.function("natsStatistics_Create")
        destroyStatistics = try library.function("natsStatistics_Destroy")
        counts = try library.function("natsStatistics_GetCounts")
        serverIsAtLeast = try? library.function("natsConn_srvVersionAtLeast")

        createMessage = try library.function("natsMsg_Create")
        destroyMessage = try library.function("natsMsg_Destroy")
        messageBytes = try library.function("natsMsg_GetData")
        messageByteCount = try library.function("natsMsg_GetDataLength")
        messageReply = try library.function("natsMsg_GetReply")
        setHeader = try library.function("natsMsgHeader_Set")
        header = try library.function("natsMsgHeader_Get")

        nextMessage = try library.function("natsSubscription_NextMsg")
        setLimits = try library.function("natsSubscription_SetPendingLimits")
        unsubscribe = try library.function("natsSubscription_Unsubscribe")
        destroySubscription = try library.function("natsSubscription_Destroy")
        createInbox = try library.function("natsInbox_Create")
        destroyInbox = try library.function("natsInbox_Destroy")
    }

    /// Throws unless the status is that of success.
    func check(_ status: Int32) throws(NATSFailure) {
        guard status == NATSFailure.Status.ok.rawValue else { throw failure(status) }
    }

    private func failure(_ status: Int32) -> NATSFailure {
        // The library keeps the last error of each thread; it may be that of an earlier call.
        var lastStatus: Int32 = 0
        let details = lastError(&lastStatus)
        let text = lastStatus == status ? details : nil
        let words = (text ?? statusText(status)).map { String(cString: $0) } ?? "unknown"
        return NATSFailure(status: .init(rawValue: status), text: words)
    }

    /// Calls a function that makes an object, and returns the object.
    func make(_ body: (Result) -> Int32) throws(NATSFailure) -> OpaquePointer {
        var made: OpaquePointer?
        try check(body(&made))
        guard let made else { throw NATSFailure(status: .init(rawValue: 1), text: "The library made no object.") }
        return made
    }
}
