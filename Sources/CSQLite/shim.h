#pragma once
#include <errno.h>
#include <sqlite3.h>

// The parts of sqlite3.h that Swift cannot import: computed macros, variadic functions, and the
// file behind a database. Everything here is a constant or one call.

/// "Make your own copy of the bound bytes."
static inline sqlite3_destructor_type wsx_transient(void) { return SQLITE_TRANSIENT; }

/// Switches one option of a connection on or off.
static inline int wsx_db_config(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

/// The size of the main database file in bytes, through SQLite's own descriptor: opening and
/// closing the file by other means would drop SQLite's POSIX locks.
static inline int wsx_file_size(sqlite3 *database, sqlite3_int64 *size) {
    sqlite3_file *file = 0;
    int status = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (status != SQLITE_OK) return status;
    if (!file || !file->pMethods) return SQLITE_CANTOPEN;
    return file->pMethods->xFileSize(file, size);
}

/// Reads the first bytes of the main database file, through SQLite's own descriptor.
static inline int wsx_file_read(sqlite3 *database, void *bytes, int count) {
    sqlite3_file *file = 0;
    int status = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (status != SQLITE_OK) return status;
    if (!file || !file->pMethods) return SQLITE_CANTOPEN;
    return file->pMethods->xRead(file, bytes, count, 0);
}

/// The errno of the last failed call on the database file, and on its journal or log; 0 for none.
/// SQLite itself reports a read that fails with EIO only as corruption.
static inline void wsx_last_errnos(sqlite3 *database, int *file, int *log) {
    *file = *log = 0;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, file) != SQLITE_OK)
        *file = 0;
    sqlite3_file *journal = 0;
    if (sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) != SQLITE_OK)
        return;
    // An in-memory journal has no file.
    if (!journal || !journal->pMethods || !journal->pMethods->xFileControl) return;
    if (journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, log) != SQLITE_OK)
        *log = 0;
}

enum {
    WSX_IOERR_NOMEM = SQLITE_IOERR_NOMEM,
    WSX_IOERR_SHMOPEN = SQLITE_IOERR_SHMOPEN,
    WSX_IOERR_SHMSIZE = SQLITE_IOERR_SHMSIZE,
    WSX_IOERR_SHMMAP = SQLITE_IOERR_SHMMAP,
    WSX_IOERR_SHORT_READ = SQLITE_IOERR_SHORT_READ,
    WSX_IOERR_WRITE = SQLITE_IOERR_WRITE,
    WSX_IOERR_FSYNC = SQLITE_IOERR_FSYNC,
    WSX_BUSY_SNAPSHOT = SQLITE_BUSY_SNAPSHOT,
    WSX_NO_SPACE = ENOSPC,
    WSX_IO_ERROR = EIO,
    WSX_NO_DEVICE = ENXIO,
    WSX_OUT_OF_RANGE = ERANGE,
    WSX_OVER_QUOTA = EDQUOT,
};
