# Spelling.pm - how programs write a text that they were given: as it is, in
# JSON, in a URL, in base 64.
package Spelling;
use strict;
use warnings;
use Encode qw(decode encode);
use Exporter qw(import);
use MIME::Base64 qw(encode_base64);
our @EXPORT_OK = qw(spellings pieces);

# What stands between the quotes of a JSON string: with the escapes that JSON
# asks for, and with others for the characters that match.
sub json_text {
    my ($text, $others, $form) = @_;
    return $text =~ s{(["\\])|($others)}{
        defined $1 ? "\\$1" : sprintf $form, ord $2}ger;
}

# Of bytes that are UTF-8: name => bytes.
sub spellings {
    my ($bytes) = @_;
    my $text = decode('UTF-8', $bytes);
    my $slash = json_text($text, qr{/}, "\\%c");
    my $all = $text =~ s/(.)/sprintf "\\u%04x", ord $1/ger;
    my %texts = (
        plain         => $text,
        json          => json_text($text, qr/(?!)/, ''),
        json_slash    => $slash,
        json_ascii    => json_text($text, qr/[^ -~]/, "\\u%04x"),
        json_html     => json_text($text, qr{[^A-Za-z0-9]}, "\\u%04X"),
        json_all      => $all,
        json_twice    => json_text($slash, qr{/}, "\\%c"),
        json_all_twice => json_text($all, qr/(?!)/, ''),
    );
    my %spelled = map { $_ => encode('UTF-8', $texts{$_}) } keys %texts;
    for ([upper => '%%%02X'], [lower => '%%%02x']) {
        my ($name, $form) = @$_;
        $spelled{"percent_$name"} =
            $bytes =~ s/([^A-Za-z0-9._~-])/sprintf $form, ord $1/ger;
    }
    for (0 .. 2) {
        my $digits = encode_base64('x' x $_ . $bytes . 'end', '');
        $spelled{"base64_$_"} = $digits;
        $spelled{"base64url_$_"} = $digits =~ tr{+/}{-_}r;
    }
    return %spelled;
}

# What none of them may leave behind: both halves of each, which in base 64 do
# not hold the digits that a neighbour has a part in. Runs of backslashes are
# one, since what quotes a text once more doubles them.
sub pieces {
    my %spelled = spellings(@_);
    my %pieces;
    for my $name (keys %spelled) {
        my $whole = $spelled{$name};
        $whole = substr $whole, 4, -8 if $name =~ /^base64/;
        my $half = int length($whole) / 2;
        for my $piece (substr($whole, 0, $half), substr $whole, $half) {
            $pieces{$piece =~ s/\\+/\\/gr} = 1;
        }
    }
    return sort keys %pieces;
}

1;
