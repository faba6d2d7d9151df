import Glibc
import StrataModel

extension StrataError {
    /// Returns what a failed system call means to the caller, judged by the error number it left.
    package static func systemCall(_ call: StaticString, path: String, errno number: Int32) -> StrataError {
        let context = Context(path: path, found: "\(call): \(String(cString: strerror(number)))", errno: number)
        switch number {
        case ENOENT, ENOTDIR: return StrataError(.notFound, "The file or directory does not exist.", context)
        case EEXIST: return StrataError(.alreadyExists, "The file exists already.", context)
        case EACCES, EPERM:
            return StrataError(
                .permissionDenied, "This user lacks the permission; check the owner and mode of the path.", context)
        case EROFS:
            return StrataError(.readOnlyMedium, "The medium is read-only; open the store for reading.", context)
        case ENOSPC, EDQUOT, EFBIG: return StrataError(.noSpace, "The disk or quota is full.", context)
        case ELOOP:
            return StrataError(
                .inputOutput, "A file of the store is a symbolic link; replace the link with the file.",
                context
            )
        case EINTR: return StrataError(.interrupted, "A signal interrupted the call.", context)
        default: return StrataError(.inputOutput, "The operating system reported an error.", context)
        }
    }

}
