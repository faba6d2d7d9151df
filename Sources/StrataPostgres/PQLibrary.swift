import StrataConnections
import StrataSystem

/// The functions of libpq, PostgreSQL's client library, which is loaded when a store first connects.
///
/// The types are those of `libpq-fe.h`; connections and results are opaque pointers.
package struct PQLibrary: Sendable {
    typealias Text = UnsafePointer<CChar>
    typealias NoticeReceiver = @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void

    let connectStart: @convention(c) (UnsafePointer<Text?>, UnsafePointer<Text?>, CInt) -> OpaquePointer?
    let connectPoll: @convention(c) (OpaquePointer) -> CInt
    let finish: @convention(c) (OpaquePointer) -> Void
    let status: @convention(c) (OpaquePointer) -> CInt
    let errorMessage: @convention(c) (OpaquePointer) -> Text?
    let socket: @convention(c) (OpaquePointer) -> CInt
    let serverVersion: @convention(c) (OpaquePointer) -> CInt
    let setNonblocking: @convention(c) (OpaquePointer, CInt) -> CInt
    let setNoticeReceiver: @convention(c) (OpaquePointer, NoticeReceiver?, UnsafeMutableRawPointer?) -> NoticeReceiver?

    let sendQuery: @convention(c) (OpaquePointer, Text) -> CInt
    let sendPrepare: @convention(c) (OpaquePointer, Text, Text, CInt, UnsafePointer<CUnsignedInt>?) -> CInt
    let sendQueryPrepared:
        @convention(c) (
            OpaquePointer, Text, CInt, UnsafePointer<Text?>?, UnsafePointer<CInt>?, UnsafePointer<CInt>?, CInt
        ) -> CInt
    let flush: @convention(c) (OpaquePointer) -> CInt
    let consumeInput: @convention(c) (OpaquePointer) -> CInt
    let isBusy: @convention(c) (OpaquePointer) -> CInt
    let getResult: @convention(c) (OpaquePointer) -> OpaquePointer?
    let notifies: @convention(c) (OpaquePointer) -> UnsafeMutableRawPointer?
    let freeMemory: @convention(c) (UnsafeMutableRawPointer?) -> Void

    let resultStatus: @convention(c) (OpaquePointer) -> CInt
    let resultErrorMessage: @convention(c) (OpaquePointer) -> Text?
    let resultErrorField: @convention(c) (OpaquePointer, CInt) -> Text?
    let rowCount: @convention(c) (OpaquePointer) -> CInt
    let columnCount: @convention(c) (OpaquePointer) -> CInt
    let value: @convention(c) (OpaquePointer, CInt, CInt) -> UnsafePointer<UInt8>?
    let valueLength: @convention(c) (OpaquePointer, CInt, CInt) -> CInt
    let isNull: @convention(c) (OpaquePointer, CInt, CInt) -> CInt
    let clear: @convention(c) (OpaquePointer) -> Void

    private static let loaded = Lock<PQLibrary?>(nil)

    /// Returns the library, which the first call loads.
    package static func load() throws -> PQLibrary {
        try loaded.withLock { (loaded) throws -> PQLibrary in
            if let library = loaded { return library }
            let library = try PQLibrary(DynamicLibrary("libpq.so.5", debianPackage: "libpq5"))
            loaded = library
            return library
        }
    }

    private init(_ library: DynamicLibrary) throws {
        connectStart = try library.function("PQconnectStartParams")
        connectPoll = try library.function("PQconnectPoll")
        finish = try library.function("PQfinish")
        status = try library.function("PQstatus")
        errorMessage = try library.function("PQerrorMessage")
        socket = try library.function("PQsocket")
        serverVersion = try library.function("PQserverVersion")
        setNonblocking = try library.function("PQsetnonblocking")
        setNoticeReceiver = try library.function("PQsetNoticeReceiver")
        sendQuery = try library.function("PQsendQuery")
        sendPrepare = try library.function("PQsendPrepare")
        sendQueryPrepared = try library.function("PQsendQueryPrepared")
        flush = try library.function("PQflush")
        consumeInput = try library.function("PQconsumeInput")
        isBusy = try library.function("PQisBusy")
        getResult = try library.function("PQgetResult")
        notifies = try library.function("PQnotifies")
        freeMemory = try library.function("PQfreemem")
        resultStatus = try library.function("PQresultStatus")
        resultErrorMessage = try library.function("PQresultErrorMessage")
        resultErrorField = try library.function("PQresultErrorField")
        rowCount = try library.function("PQntuples")
        columnCount = try library.function("PQnfields")
        value = try library.function("PQgetvalue")
        valueLength = try library.function("PQgetlength")
        isNull = try library.function("PQgetisnull")
        clear = try library.function("PQclear")
    }
}
