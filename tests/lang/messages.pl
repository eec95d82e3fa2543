#!/usr/bin/perl
# messages.pl FOLDER - print the messages in the C files of a folder that no
# case provokes: neither in bad/*.out and print/*.out nor, as text, in `run`.
use strict;
use warnings;

my ($folder) = @ARGV;

# What `run` makes up itself, since it can't stand in a file, or what only a
# broken installation could provoke.
my %elsewhere = map { $_ => 1 } (
    'can not be read: %s',
    'is not a file',
    'the file is longer than 1 MiB',
    'there is a NUL byte at offset %zu',
    'the text is not valid UTF-8 at byte offset %zu',
    'strings are nested more than %d levels deep',
    'more than %d ${…} in one string',
    '%s is not the same', # `wf-console verify` says it
);

my $said = '';
for my $file (glob 'bad/*.out print/*.out') {
    open my $in, '<', $file or die "cannot read $file: $!\n";
    local $/;
    $said .= <$in>;
}

# All calls that report, with their arguments up to the closing parenthesis.
for my $file (sort glob "$folder/*.c") {
    open my $in, '<', $file or die "cannot read $file: $!\n";
    my $code = do { local $/; <$in> };
    while ($code =~ /\b(?:COMPLAIN|report|report_file|write_fault|taken|parser_unexpected)(\((?:[^()"]|"(?:[^"\\]|\\.)*"|(?1))*\))/g) {
        my $arguments = $1;
        $arguments =~ s/"\s*\n\s*"//g;
        for my $message ($arguments =~ /"((?:[^"\\]|\\.)*)"/g) {
            next if $message !~ / / || $elsewhere{$message};
            my $pattern = quotemeta $message;
            $pattern =~ s/\\%(?:\\\.(?:\\\*|100))?(?:z?[udsX]|04X|\\\.10g)/.*/g;
            $pattern =~ s/\\\\"/"/g;
            print "$message\n" if $said !~ $pattern;
        }
    }
}
